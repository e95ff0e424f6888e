import type { Report } from './verification.js';

/** The maximum number of violations printed per guarantee; the others are counted. */
const SHOWN = 5;

export function formatReport({ counts, responses, guarantees, ...times }: Report): string {
  const kinds = [...responses].sort(([, a], [, b]) => b - a);
  const rows: [string, string][] = [
    ['acknowledged', number(counts.acknowledged)],
    ['refused', number(counts.refused)],
    ['outcome known only after a retry', number(counts.doubtful - counts.unknown)],
    ['outcome unknown', number(counts.unknown)],
    ['stored', number(counts.stored)],
    ...kinds.map(([kind, count]): [string, string] => [`response ${kind}`, number(count)]),
    ['median, 99th percentile', `${times.medianMs} ms, ${times.p99Ms} ms`],
    ['longest pause between two acknowledgements', `${number(times.longestPauseMs)} ms`],
  ];
  const results = guarantees.flatMap(({ text, violations, unknown = [] }) => [
    ...(violations.length + unknown.length === 0 ? [row(text, 'kept')] : []),
    ...rowsOf(text, 'BROKEN', violations),
    ...rowsOf(text, 'UNKNOWN', unknown),
  ]);
  const verdict = VERDICTS[verdictOf({ guarantees })];
  return [...rows.map(([name, value]) => row(name, value)), '', ...results, '', verdict].join('\n');
}

const VERDICTS = {
  kept: 'Every guarantee was kept.',
  broken: 'A guarantee was broken.',
  unknown:
    'No guarantee was broken, but not every message is known to be delivered: nobody consumes them, the account is paused,\n' +
    'or its delivery mode was changed. Once they are delivered, compare again: --resume --ledger.',
};

export function verdictOf({ guarantees }: Pick<Report, 'guarantees'>): keyof typeof VERDICTS {
  if (guarantees.some(({ violations }) => violations.length > 0)) return 'broken';
  return guarantees.some(({ unknown = [] }) => unknown.length > 0) ? 'unknown' : 'kept';
}

/** What is broken, or not known to be kept, as sentences. */
export function notKept({ guarantees }: Pick<Report, 'guarantees'>): string[] {
  return guarantees.flatMap(({ violations, unknown = [] }) => [...violations, ...unknown]);
}

function rowsOf(text: string, verdict: string, sentences: readonly string[]): string[] {
  if (sentences.length === 0) return [];
  const more = sentences.length - SHOWN;
  return [
    row(text, `${verdict} ${number(sentences.length)} times`),
    ...sentences.slice(0, SHOWN).map((sentence) => `    ${sentence}`),
    ...(more > 0 ? [`    … and ${number(more)} more`] : []),
  ];
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(50)} ${value}`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
