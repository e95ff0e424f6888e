import { Option, type Command } from 'commander';
import type { AccountUsagePeriod, UsagePeriod } from '#client/index.js';
import { id, withExamples } from '../input/arguments.js';
import { timeOption } from '../input/times.js';
import type { Context } from '../support/context.js';
import { firstOf } from '../support/lists.js';
import { bytes, count, time, type Column, type Output } from '../support/output.js';

export interface HistoryOptions {
  readonly by?: 'hour' | 'day';
  readonly since?: string;
  readonly until?: string;
  readonly csv?: true;
}

type Range = Omit<HistoryOptions, 'csv'>;

/** A history as the client returns it: as a list, and as CSV. */
interface History<Period> {
  readonly list: (range: Range) => AsyncIterable<Period>;
  readonly csv: (range: Range) => AsyncIterable<string>;
}

const START: Column<UsagePeriod> = ['START', ({ start }) => time(start)];
const COUNTS: readonly Column<UsagePeriod>[] = [
  ['ACCEPTED', ({ accepted }) => count(accepted)],
  ['SIZE', ({ acceptedBytes }) => bytes(acceptedBytes)],
  ['DELIVERED', ({ delivered }) => count(delivered)],
  ['FAILED', ({ failed }) => count(failed)],
  ['CANCELLED', ({ cancelled }) => count(cancelled)],
];
export const HISTORY_COLUMNS: readonly Column<UsagePeriod>[] = [START, ...COUNTS];
const COLUMNS_OF_ALL: readonly Column<AccountUsagePeriod>[] = [
  START,
  ['ACCOUNT', ({ accountId }) => accountId],
  ...COUNTS,
  ['EXTERNAL ID', ({ externalId }) => externalId ?? '-'],
];

/** Adds the options of a history. */
export function withHistoryOptions(command: Command): Command {
  return command
    .addOption(new Option('--by <period>', 'the length of the periods, in UTC').choices(['hour', 'day']))
    .addOption(timeOption('--since <time>', 'only periods that start then or later'))
    .addOption(timeOption('--until <time>', 'only periods that start before'))
    .addOption(new Option('--csv', 'print CSV').conflicts('json'));
}

export async function showHistory<Period>(
  output: Output,
  { csv, ...range }: HistoryOptions,
  history: History<Period>,
  columns: readonly Column<Period>[],
): Promise<void> {
  if (csv !== true) {
    await output.list(firstOf(history.list(range), Infinity), columns, 'Nothing was accepted in this time.');
    return;
  }
  for await (const page of history.csv(range)) for (const line of page.trimEnd().split('\r\n')) output.line(line);
}

/** The command that needs the operators' key. */
export function addAdminUsage(program: Command, context: Context): void {
  const admin =
    program.commands.find((command) => command.name() === 'admin') ??
    program.command('admin').description("For all accounts (with the operators' key)");
  const usage = withHistoryOptions(
    admin
      .command('usage')
      .description('Show what was accepted from all accounts, or from one, in each hour or day')
      .option('--account <id>', 'only from this account, also if it was deleted', id('acct')),
  ).action(async ({ account, ...options }: HistoryOptions & { readonly account?: string }) => {
    const api = context.operator().admin;
    if (account === undefined) {
      const all = { list: (range: Range) => api.usage(range), csv: (range: Range) => api.usageCsv(range) };
      return showHistory(context.output, options, all, COLUMNS_OF_ALL);
    }
    const one = {
      list: (range: Range) => api.accounts.usageHistory(account, range),
      csv: (range: Range) => api.accounts.usageHistoryCsv(account, range),
    };
    return showHistory(context.output, options, one, HISTORY_COLUMNS);
  });
  withExamples(
    usage,
    'sluice admin usage --by day --since 2026-11-01T00:00:00Z --until 2026-12-01T00:00:00Z --csv',
    'sluice admin usage --account acct_01m7z2cmr5et4sdsg2r89kz5qa --by hour',
  );
}
