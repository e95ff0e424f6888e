import type { Report } from './verification.js';

/** Cases of one rule that are printed; the others are counted. */
const SHOWN = 5;

/** The report as people read it. */
export function printed({ counts, answers, rules, ...times }: Report): string {
  const kinds = [...answers].sort(([, a], [, b]) => b - a);
  const rows: [string, string][] = [
    ['acknowledged', number(counts.acknowledged)],
    ['refused', number(counts.refused)],
    ['outcome unknown at first, then told', number(counts.doubtful - counts.unknown)],
    ['outcome still unknown', number(counts.unknown)],
    ['stored', number(counts.stored)],
    ...kinds.map(([kind, count]): [string, string] => [`answered ${kind}`, number(count)]),
    ['median, 99th percentile', `${times.medianMs} ms, ${times.p99Ms} ms`],
    ['longest pause between two acknowledgements', `${number(times.longestPauseMs)} ms`],
  ];
  const promises = rules.flatMap(({ promise, broken }) => [
    row(promise, broken.length === 0 ? 'kept' : `BROKEN ${number(broken.length)} times`),
    ...broken.slice(0, SHOWN).map((sentence) => `    ${sentence}`),
    ...(broken.length > SHOWN ? [`    … and ${number(broken.length - SHOWN)} more`] : []),
  ]);
  const verdict = isKept({ rules }) ? 'Every promise was kept.' : 'A promise was broken.';
  return [...rows.map(([name, value]) => row(name, value)), '', ...promises, '', verdict].join('\n');
}

export function isKept({ rules }: Pick<Report, 'rules'>): boolean {
  return rules.every(({ broken }) => broken.length === 0);
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(50)} ${value}`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
