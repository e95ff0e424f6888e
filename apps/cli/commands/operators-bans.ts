import type { Command } from 'commander';
import type { Ban } from '#client/index.js';
import { id, idArgument, limitOption } from '../input/arguments.js';
import type { Context } from '../support/context.js';
import { firstOf } from '../support/lists.js';
import { time } from '../support/output.js';
import type { Column } from '../support/table.js';

const BAN_COLUMNS: readonly Column<Ban>[] = [
  ['KEY', ({ keyId }) => keyId],
  ['ACCOUNT', ({ accountId }) => accountId],
  ['SINCE', ({ bannedAt }) => time(bannedAt)],
  ['UNTIL', ({ bannedUntil }) => time(bannedUntil)],
  ['REASON', ({ reason }) => reason],
];

export function addBans(admin: Command, context: Context): void {
  const api = () => context.operator().admin;
  const bans = admin.command('bans').description('Look at bans and lift them');

  bans
    .command('list')
    .alias('ls')
    .description('List the banned keys')
    .addOption(limitOption(50))
    .option('--account <id>', 'only those of this account', id('acct'))
    .action(({ limit, account }: { limit: number; account?: string }) =>
      context.output.list(firstOf(api().bans.list({ accountId: account }), limit), BAN_COLUMNS, 'No key is banned.'),
    );

  bans
    .command('lift')
    .description('End the ban of a key')
    .addArgument(idArgument('key', '<key-id>'))
    .action(async (keyId: string) => {
      await api().bans.lift(keyId);
      context.output.result({ keyId, lifted: true }, () => `The ban of ${keyId} is lifted.`);
    });
}
