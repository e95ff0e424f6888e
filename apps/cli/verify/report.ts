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
  const results = guarantees.flatMap(({ text, violations }) => [
    row(text, violations.length === 0 ? 'kept' : `BROKEN ${number(violations.length)} times`),
    ...violations.slice(0, SHOWN).map((sentence) => `    ${sentence}`),
    ...(violations.length > SHOWN ? [`    … and ${number(violations.length - SHOWN)} more`] : []),
  ]);
  const verdict = allKept({ guarantees }) ? 'Every guarantee was kept.' : 'A guarantee was broken.';
  return [...rows.map(([name, value]) => row(name, value)), '', ...results, '', verdict].join('\n');
}

export function allKept({ guarantees }: Pick<Report, 'guarantees'>): boolean {
  return guarantees.every(({ violations }) => violations.length === 0);
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(50)} ${value}`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
