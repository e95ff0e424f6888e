import { Option, type Command } from 'commander';
import type { Ban, OperatorsAccount } from '#client/index.js';
import { filled, id, idArgument, integer, limitOption, withExamples } from '../input/arguments.js';
import type { Scope } from '#client/index.js';
import { timeOption } from '../input/times.js';
import type { Context } from '../support/context.js';
import { firstOf } from '../support/lists.js';
import { planLine, time, type Column, type Output } from '../support/output.js';
import { confirm } from '../support/prompts.js';
import { KEY_COLUMNS, SCOPES, show as showKey } from './keys.js';

const ACCOUNT_COLUMNS: readonly Column<OperatorsAccount>[] = [
  ['ID', ({ id }) => id],
  ['PLAN', ({ plan }) => plan],
  ['DELIVERY', ({ delivery }) => delivery],
  ['STATE', stateOf, ({ suspended, paused }) => (suspended ? 'red' : paused ? 'yellow' : 'green')],
  ['CREATED', ({ createdAt }) => time(createdAt)],
  ['NAME', ({ name }) => name],
];

const BAN_COLUMNS: readonly Column<Ban>[] = [
  ['KEY', ({ keyId }) => keyId],
  ['ACCOUNT', ({ accountId }) => accountId],
  ['SINCE', ({ bannedAt }) => time(bannedAt)],
  ['UNTIL', ({ bannedUntil }) => time(bannedUntil)],
  ['REASON', ({ reason }) => reason],
];

interface Changes {
  readonly plan?: string;
  readonly perMinute?: number;
  readonly perDay?: number;
}

/** The commands that need the operators' key. */
export function addOperators(program: Command, context: Context): void {
  const accounts = program.command('accounts').description("Manage all accounts (with the operators' key)");
  const api = () => context.operator().admin;

  accounts
    .command('list')
    .alias('ls')
    .description('List accounts, newest first')
    .addOption(limitOption(50))
    .option('--suspended', 'only suspended ones')
    .action(({ limit, suspended }: { limit: number; suspended?: true }) => {
      const none = suspended ? 'No account is suspended.' : 'There are no accounts.';
      return context.output.list(firstOf(api().accounts.list({ suspended }), limit), ACCOUNT_COLUMNS, none);
    });

  accounts
    .command('get')
    .description('Show an account')
    .addArgument(idArgument('acct'))
    .action(async (id: string) => {
      show(context.output, await api().accounts.get(id));
    });

  const update = accounts
    .command('update')
    .description('Change the plan of an account')
    .addArgument(idArgument('acct'))
    .option('--plan <plan>', 'the name of the new plan', filled)
    .option('--per-minute <n>', 'requests a minute, with a plan that has no limits of its own', integer(1, 1e9))
    .option('--per-day <n>', 'requests a day, with such a plan', integer(1, 1e9))
    .action(async (id: string, { plan, perMinute, perDay }: Changes) => {
      if ((perMinute === undefined) !== (perDay === undefined)) {
        update.error('error: --per-minute and --per-day belong together');
      }
      if (plan === undefined && perMinute === undefined) update.error('error: name what to change by an option');
      const limits = perMinute === undefined || perDay === undefined ? undefined : { perMinute, perDay };
      show(context.output, await api().accounts.update(id, { plan, limits }));
    });
  withExamples(
    update,
    'sluice accounts update acct_01m7z2cmr5et4sdsg2r89kz5qa --plan business',
    'sluice accounts update acct_… --plan enterprise --per-minute 5000 --per-day 1000000',
  );

  accounts
    .command('suspend')
    .description('Refuse the keys of an account and keep its queued messages waiting')
    .addArgument(idArgument('acct'))
    .action(async (id: string) => {
      show(context.output, await api().accounts.update(id, { suspended: true }));
    });

  accounts
    .command('resume')
    .description('End the suspension of an account')
    .addArgument(idArgument('acct'))
    .action(async (id: string) => {
      show(context.output, await api().accounts.update(id, { suspended: false }));
    });

  accounts
    .command('keys')
    .description('List the keys of an account')
    .addArgument(idArgument('acct'))
    .addOption(limitOption(100))
    .action((id: string, { limit }: { limit: number }) =>
      context.output.list(firstOf(api().accounts.keys(id), limit), KEY_COLUMNS, 'There are no keys.'),
    );

  accounts
    .command('create-key')
    .description('Create a key for an account, which is shown only once')
    .argument('<id>')
    .argument('<name>', 'what it is for')
    .addOption(new Option('--scope <scope...>', 'what it may do (everything)').choices(SCOPES))
    .addOption(timeOption('--expires-at <time>', 'when it stops working'))
    .action(async (id: string, name: string, { scope, expiresAt }: { scope?: Scope[]; expiresAt?: string }) => {
      showKey(context.output, await api().accounts.createKey(id, { name, scopes: scope, expiresAt }));
    });

  accounts
    .command('revoke-key')
    .description('Revoke a key of an account at once and for good')
    .addArgument(idArgument('acct'))
    .addArgument(idArgument('key', '<key-id>'))
    .option('-y, --yes', 'do not ask')
    .action(async (id: string, keyId: string, { yes }: { yes?: true }) => {
      await confirm(`Revoke ${keyId} of ${id}?`, yes);
      await api().accounts.revokeKey(id, keyId);
      context.output.result({ id: keyId, revoked: true }, () => `${keyId} is revoked.`);
    });

  const bans = program.command('bans').description("Look at bans and lift them (with the operators' key)");

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

function show(output: Output, account: OperatorsAccount): void {
  output.result(account, () =>
    output.fields({
      Id: account.id,
      Name: account.name,
      Plan: planLine(account),
      Delivery: account.delivery,
      State: stateOf(account),
      Created: time(account.createdAt),
    }),
  );
}

function stateOf({ suspended, paused }: OperatorsAccount): string {
  const states = [...(suspended ? ['suspended'] : []), ...(paused ? ['paused'] : [])];
  return states.join(', ') || 'active';
}
