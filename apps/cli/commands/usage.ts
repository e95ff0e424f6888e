import { Option, type Command } from 'commander';
import type { AccountUsagePeriod, UsageHistoryOptions, UsagePeriod } from '#client/index.js';
import { id, withExamples } from '../input/arguments.js';
import { timeOption } from '../input/times.js';
import type { Context } from '../support/context.js';
import { csvLine } from '../support/csv.js';
import { firstOf } from '../support/lists.js';
import { bytes, count, time, type Output } from '../support/output.js';
import type { Column } from '../support/table.js';

export interface HistoryOptions extends UsageHistoryOptions {
  readonly csv?: true;
}

/** A column of a table, with the name of its field in CSV. */
type HistoryColumn<Period> = readonly [field: keyof Period & string, ...Column<Period>];

const START: HistoryColumn<UsagePeriod> = ['start', 'START', ({ start }) => time(start)];
const COUNTS: readonly HistoryColumn<UsagePeriod>[] = [
  ['accepted', 'ACCEPTED', ({ accepted }) => count(accepted)],
  ['acceptedBytes', 'SIZE', ({ acceptedBytes }) => bytes(acceptedBytes)],
  ['delivered', 'DELIVERED', ({ delivered }) => count(delivered)],
  ['failed', 'FAILED', ({ failed }) => count(failed)],
  ['cancelled', 'CANCELLED', ({ cancelled }) => count(cancelled)],
];
export const HISTORY_COLUMNS: readonly HistoryColumn<UsagePeriod>[] = [START, ...COUNTS];
const COLUMNS_OF_ALL: readonly HistoryColumn<AccountUsagePeriod>[] = [
  START,
  ['accountId', 'ACCOUNT', ({ accountId }) => accountId],
  ['externalId', 'EXTERNAL ID', ({ externalId }) => externalId ?? '-'],
  ...COUNTS,
];

/** Adds the options of a history. */
export function withHistoryOptions(command: Command): Command {
  return command
    .addOption(new Option('--by <period>', 'the length of the periods, in UTC').choices(['hour', 'day']))
    .addOption(timeOption('--since <time>', 'only periods that start then or later'))
    .addOption(timeOption('--until <time>', 'only periods that start before'))
    .option('--csv', 'print CSV');
}

/** Shows all pages of a history. */
export async function showHistory<Period>(
  output: Output,
  history: AsyncIterable<Period>,
  columns: readonly HistoryColumn<Period>[],
  csv = false,
): Promise<void> {
  const pages = firstOf(history, Infinity);
  if (!csv) {
    const shown = columns.map(([, ...column]): Column<Period> => column);
    await output.list(pages, shown, 'Nothing was accepted in this time.');
    return;
  }
  const fields = columns.map(([field]) => field);
  output.line(csvLine(fields));
  for await (const page of pages) {
    for (const period of page) output.line(csvLine(fields.map((field) => period[field] as string | number | null)));
  }
}

/** The command that needs the operators' key. */
export function addAdminUsage(admin: Command, context: Context): void {
  const usage = withHistoryOptions(
    admin
      .command('usage')
      .description('Show what was accepted from all accounts, or from one, in each hour or day')
      .option('--account <id>', 'only from this account, also if it was deleted', id('acct')),
  ).action(({ account, csv, ...options }: HistoryOptions & { readonly account?: string }) => {
    const { accounts } = context.operator().admin;
    if (account === undefined) return showHistory(context.output, accounts.usage(options), COLUMNS_OF_ALL, csv);
    return showHistory(context.output, accounts.usageHistory(account, options), HISTORY_COLUMNS, csv);
  });
  withExamples(
    usage,
    'sluice admin usage --by day --since 2026-11-01T00:00:00Z --until 2026-12-01T00:00:00Z --csv',
    'sluice admin usage --account acct_01m7z2cmr5et4sdsg2r89kz5qa --by hour',
  );
}
