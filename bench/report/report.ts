import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.js';
import type { Spread } from './stats.js';

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Explanations below the table. */
  readonly notes?: readonly string[];
}

/** A condition that must hold for the results to be valid. */
export interface Check {
  readonly what: string;
  readonly holds: boolean;
}

/** The results of a scenario. */
export interface Findings {
  readonly tables: readonly Table[];
  readonly checks: readonly Check[];
  /** Every measurement, for the JSON report. */
  readonly figures: unknown;
}

export interface Report extends Findings {
  readonly scenario: string;
  /** ISO 8601. */
  readonly at: string;
  readonly machine: Machine;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Checks that all counts are equal. */
export function agree(what: string, counts: Readonly<Record<string, number>>): Check {
  const entries = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const holds = new Set(Object.values(counts)).size === 1 && !Object.values(counts).includes(NaN);
  return { what: `${what}: ${entries.join(', ')}`, holds };
}

/** Writes `<scenario>.json` and `<scenario>.md`. */
export function write(report: Report, folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${report.scenario}.json`), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(folder, `${report.scenario}.md`), markdown(report));
}

export function markdown({ scenario, at, machine, options, tables, checks }: Report): string {
  const entries = Object.entries(options).map(([name, value]) => `${name} ${String(value)}`);
  const failed = checks.filter(({ holds }) => !holds);
  return [
    `# ${scenario}`,
    `${at.slice(0, 10)}, ${Object.values(machine).join(', ')}. Options: ${entries.join(', ')}.`,
    ...tables.flatMap((table) => [`## ${table.title}`, tableText(table), ...(table.notes ?? [])]),
    failed.length === 0
      ? `All ${checks.length} checks of accepted against stored messages agree.`
      : `**These counts do not agree, so the figures are invalid:**\n\n${failed.map(({ what }) => `- ${what}`).join('\n')}`,
    '',
  ].join('\n\n');
}

/** The first column is the label of the row; the others are numbers. */
function tableText({ columns, rows }: Table): string {
  const widths = columns.map((column, index) =>
    Math.max(3, column.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, n) => (n === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(columns), rule, ...rows.map(line)].join('\n');
}

/** Rounds to three significant digits, or to an integer from 100 on. */
export function formatFigure(value: number): string {
  if (Number.isNaN(value)) return '–';
  const digits = Math.abs(value) >= 100 || value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The median, with minimum and maximum of all rounds in brackets. */
export function formatSpread({ median, min, max }: Spread): string {
  return min === max || Number.isNaN(median)
    ? formatFigure(median)
    : `${formatFigure(median)} (${formatFigure(min)}–${formatFigure(max)})`;
}

export function megabytes(bytes: number): number {
  return bytes / 1_048_576;
}
