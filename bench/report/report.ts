import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.js';
import type { Spread } from './stats.js';

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What a reader has to know to read it. */
  readonly notes?: readonly string[];
}

/** Something that must hold, or nothing that was measured is worth anything. */
export interface Check {
  readonly what: string;
  readonly holds: boolean;
}

/** What a scenario has found. */
export interface Findings {
  readonly tables: readonly Table[];
  readonly checks: readonly Check[];
  /** Everything that was measured, for programs. */
  readonly figures: unknown;
}

export interface Report extends Findings {
  readonly scenario: string;
  /** ISO 8601. */
  readonly at: string;
  readonly machine: Machine;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Counts that must be the same number. */
export function agree(what: string, counts: Readonly<Record<string, number>>): Check {
  const told = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const holds = new Set(Object.values(counts)).size === 1 && !Object.values(counts).includes(NaN);
  return { what: `${what}: ${told.join(', ')}`, holds };
}

/** Writes `<scenario>.json` and `<scenario>.md`. */
export function write(report: Report, folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${report.scenario}.json`), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(folder, `${report.scenario}.md`), markdown(report));
}

export function markdown({ scenario, at, machine, options, tables, checks }: Report): string {
  const told = Object.entries(options).map(([name, value]) => `${name} ${String(value)}`);
  const failed = checks.filter(({ holds }) => !holds);
  return [
    `# ${scenario}`,
    `${at.slice(0, 10)}, ${Object.values(machine).join(', ')}. Options: ${told.join(', ')}.`,
    ...tables.flatMap((table) => [`## ${table.title}`, tableText(table), ...(table.notes ?? [])]),
    failed.length === 0
      ? `All ${checks.length} counts of what was accepted and what is stored agree.`
      : `**These counts don't agree, so that no figure here is worth anything:**\n\n${failed.map(({ what }) => `- ${what}`).join('\n')}`,
    '',
  ].join('\n\n');
}

/** The first column says what a row is about, all others are numbers. */
function tableText({ columns, rows }: Table): string {
  const widths = columns.map((column, index) =>
    Math.max(3, column.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, n) => (n === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(columns), rule, ...rows.map(line)].join('\n');
}

/** Three significant digits, none of them after the point for numbers of three and more. */
export function figure(value: number): string {
  if (Number.isNaN(value)) return '–';
  const digits = Math.abs(value) >= 100 || value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The median, and the least and the most of all rounds. */
export function told({ median, min, max }: Spread): string {
  return min === max || Number.isNaN(median) ? figure(median) : `${figure(median)} (${figure(min)}–${figure(max)})`;
}

export function megabytes(bytes: number): number {
  return bytes / 1_048_576;
}
