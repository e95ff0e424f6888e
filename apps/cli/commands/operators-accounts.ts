import { Option, type Command } from 'commander';
import type { OperatorsAccount } from '#client/index.js';
import {
  idArgument,
  integer,
  limitOption,
  planName,
  validName,
  visibleAscii,
  withExamples,
} from '../input/arguments.js';
import type { Scope } from '#client/index.js';
import { timeOption } from '../input/times.js';
import type { Context } from '../support/context.js';
import { firstOf } from '../support/lists.js';
import { planLine, time, type Output } from '../support/output.js';
import type { Column } from '../support/table.js';
import { confirm } from '../support/prompts.js';
import { visible } from '../support/visible.js';
import { KEY_COLUMNS, SCOPES, show as showKey } from './keys.js';

const ACCOUNT_COLUMNS: readonly Column<OperatorsAccount>[] = [
  ['ID', ({ id }) => id],
  ['PLAN', ({ plan }) => plan],
  ['DELIVERY', ({ delivery }) => delivery],
  ['STATE', stateOf, ({ suspended, paused }) => (suspended ? 'red' : paused ? 'yellow' : 'green')],
  ['CREATED', ({ createdAt }) => time(createdAt)],
  ['EXTERNAL ID', ({ externalId }) => externalId ?? ''],
  ['NAME', ({ name }) => name],
];

interface Choices {
  readonly plan?: string;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly externalId?: string;
}

/** False for `--no-external-id`. */
type Changes = Omit<Choices, 'externalId'> & { readonly externalId?: string | false };

interface Filter {
  readonly limit: number;
  readonly suspended?: true;
  readonly name?: string;
  readonly externalId?: string;
}

export function addOperatorsAccounts(admin: Command, context: Context): void {
  const accounts = admin.command('accounts').description('Manage all accounts');
  const api = () => context.operator().admin;

  accounts
    .command('list')
    .alias('ls')
    .description('List accounts, newest first')
    .addOption(limitOption(50))
    .option('--suspended', 'only suspended ones')
    .option('--name <text>', 'only those whose name contains this, in upper or lower case')
    .option('--external-id <external-id>', 'only the one with this external id', visibleAscii)
    .action(({ limit, ...filter }: Filter) => {
      const isFiltered = Object.keys(filter).length > 0;
      const none = isFiltered ? 'No account is like that.' : 'There are no accounts.';
      return context.output.list(firstOf(api().accounts.list(filter), limit), ACCOUNT_COLUMNS, none);
    });

  const create = withLimits(
    accounts.command('create').description('Create an account with its first key, which is shown only once'),
  )
    .argument('<name>', 'of the account', validName)
    .option('--external-id <external-id>', 'what your own systems call it', visibleAscii)
    .action(async (name: string, { plan, externalId, ...choices }: Choices) => {
      const limits = limitsOf(create, choices);
      const account = await api().accounts.create({ name, plan, limits, externalId });
      context.output.result(account, () => visible(account.apiKey.key));
      if (!context.output.isJson) context.output.success(`${account.id} is created. Its key is shown only once.`);
    });
  withExamples(create, 'sluice admin accounts create Acme --plan pro --external-id customer-4711');

  accounts
    .command('get')
    .description('Show an account')
    .addArgument(idArgument('acct'))
    .action(async (id: string) => {
      show(context.output, await api().accounts.get(id));
    });

  const update = withLimits(accounts.command('update').description('Change the plan of an account, or its external id'))
    .addArgument(idArgument('acct'))
    .option('--external-id <external-id>', 'what your own systems call it', visibleAscii)
    .option('--no-external-id', 'forget what your own systems call it')
    .action(async (id: string, { plan, externalId, ...choices }: Changes) => {
      const limits = limitsOf(update, choices);
      if (plan === undefined && limits === undefined && externalId === undefined) {
        update.error('error: name what to change by an option');
      }
      const changes = { plan, limits, externalId: externalId === false ? null : externalId };
      show(context.output, await api().accounts.update(id, changes));
    });
  withExamples(
    update,
    'sluice admin accounts update acct_01m7z2cmr5et4sdsg2r89kz5qa --plan business',
    'sluice admin accounts update acct_… --plan enterprise --per-minute 5000 --per-day 1000000',
  );

  accounts
    .command('rename')
    .description('Change the name of an account')
    .addArgument(idArgument('acct'))
    .argument('<name>', 'the new name', validName)
    .action(async (id: string, name: string) => {
      show(context.output, await api().accounts.update(id, { name }));
    });

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
    .command('delete')
    .description('Delete an account with all its messages, keys and endpoints, for good')
    .addArgument(idArgument('acct'))
    .option('-y, --yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: true }) => {
      await confirm(`Delete ${id} with all its messages, keys and endpoints, for good?`, yes);
      const deletion = await api().accounts.delete(id);
      context.output.result(deletion, () => `${id} is deleted. Its data is being removed.`);
    });

  const link = accounts
    .command('portal-link')
    .description('Create a link that opens the portal once, for a customer without a key')
    .addArgument(idArgument('acct'))
    .addOption(new Option('--scope <scope...>', 'what it allows').choices(SCOPES).makeOptionMandatory())
    .addOption(
      new Option('--expires-in <seconds>', 'until it expires, and its visitor is signed out (3600)').argParser(
        integer(1, 86_400),
      ),
    )
    .action(async (id: string, { scope, expiresIn }: { scope: Scope[]; expiresIn?: number }) => {
      const made = await api().accounts.createPortalLink(id, { scopes: scope, expiresInSeconds: expiresIn });
      context.output.result(made, () => visible(made.url));
    });
  withExamples(link, 'sluice admin accounts portal-link acct_… --scope messages:read --expires-in 900');

  const keys = accounts.command('keys').description('Manage the keys of an account');

  keys
    .command('list')
    .alias('ls')
    .description('List the keys of an account')
    .addArgument(idArgument('acct'))
    .addOption(limitOption(100))
    .action((id: string, { limit }: { limit: number }) =>
      context.output.list(firstOf(api().accounts.keys(id), limit), KEY_COLUMNS, 'There are no keys.'),
    );

  keys
    .command('create')
    .description('Create a key for an account, which is shown only once')
    .addArgument(idArgument('acct'))
    .argument('<name>', 'what it is for', validName)
    .addOption(new Option('--scope <scope...>', 'what it may do (everything)').choices(SCOPES))
    .addOption(timeOption('--expires-at <time>', 'when it stops working'))
    .action(async (id: string, name: string, { scope, expiresAt }: { scope?: Scope[]; expiresAt?: string }) => {
      showKey(context.output, await api().accounts.createKey(id, { name, scopes: scope, expiresAt }));
    });

  keys
    .command('revoke')
    .description('Revoke a key of an account at once and for good')
    .addArgument(idArgument('acct'))
    .addArgument(idArgument('key', '<key-id>'))
    .option('-y, --yes', 'do not ask')
    .action(async (id: string, keyId: string, { yes }: { yes?: true }) => {
      await confirm(`Revoke ${keyId} of ${id}?`, yes);
      await api().accounts.revokeKey(id, keyId);
      context.output.result({ id: keyId, revoked: true }, () => `${keyId} is revoked.`);
    });
}

function withLimits(command: Command): Command {
  return command
    .option('--plan <plan>', 'the name of the plan', planName)
    .option('--per-minute <n>', 'requests a minute, with a plan that has no limits of its own', integer(1, 1e9))
    .option('--per-day <n>', 'requests a day, with such a plan', integer(1, 1e9));
}

function limitsOf(command: Command, { perMinute, perDay }: Pick<Choices, 'perMinute' | 'perDay'>) {
  if (perMinute !== undefined && perDay !== undefined) return { perMinute, perDay };
  if (perMinute !== perDay) command.error('error: --per-minute and --per-day belong together');
  return undefined;
}

function show(output: Output, account: OperatorsAccount): void {
  output.result(account, () =>
    output.fields({
      Id: account.id,
      Name: account.name,
      'External id': account.externalId ?? '',
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
