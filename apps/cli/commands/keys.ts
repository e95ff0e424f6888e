import { Option, type Command } from 'commander';
import type { ApiKey, NewApiKey, Scope } from '#client/index.js';
import { idArgument, integer, limitOption, validName, withExamples } from '../input/arguments.js';
import { timeOption } from '../input/times.js';
import type { Context } from '../support/context.js';
import { firstOf } from '../support/lists.js';
import { time, type Output } from '../support/output.js';
import type { Column } from '../support/table.js';
import { confirm } from '../support/prompts.js';
import { visible } from '../support/visible.js';

export const SCOPES = [
  'messages:send',
  'messages:read',
  'messages:consume',
  'account:manage',
] as const satisfies readonly Scope[];

export const KEY_COLUMNS: readonly Column<ApiKey>[] = [
  ['ID', ({ id }) => id],
  ['NAME', ({ name }) => name],
  ['KEY', ({ hint }) => hint ?? ''],
  ['CREATED', ({ createdAt }) => time(createdAt)],
  ['LAST USED', ({ lastUsedAt }) => time(lastUsedAt)],
  ['EXPIRES', ({ expiresAt }) => time(expiresAt)],
  ['SCOPES', ({ scopes }) => scopes.join(' ')],
];

export function addKeys(program: Command, context: Context): void {
  const keys = program.command('keys').description('Manage the API keys of your account');

  keys
    .command('list')
    .alias('ls')
    .description('List keys, newest first')
    .addOption(limitOption(100))
    .action(({ limit }: { limit: number }) =>
      context.output.list(firstOf(context.sluice().account.keys.list(), limit), KEY_COLUMNS, 'There are no keys.'),
    );

  const create = keys
    .command('create')
    .description('Create a key, which is shown only once')
    .argument('<name>', 'what it is for', validName)
    .addOption(new Option('--scope <scope...>', 'what it may do (all that your key may)').choices(SCOPES))
    .addOption(timeOption('--expires-at <time>', 'when it stops working'))
    .action(async (name: string, { scope, expiresAt }: { scope?: Scope[]; expiresAt?: string }) => {
      show(context.output, await context.sluice().account.keys.create({ name, scopes: scope, expiresAt }));
    });
  withExamples(
    create,
    'sluice keys create billing --scope messages:send',
    'sluice keys create nightly --scope messages:send messages:read --expires-at 2030-01-01',
  );

  const rotate = keys
    .command('rotate')
    .description('Replace a key by a new one with the same name, scopes and expiry')
    .addArgument(idArgument('key'))
    .option('--grace <seconds>', 'how long the old one keeps working', integer(0, 2_592_000), 0)
    .option('-y, --yes', 'do not ask when the old one stops working at once')
    .action(async (id: string, { grace, yes }: { grace: number; yes?: true }) => {
      if (grace === 0) await confirm(`Rotate ${id}, which stops working at once?`, yes);
      const { output, baseUrl, credentials } = context;
      const { keys: api } = context.sluice().account;
      const isOwn = (await api.current()).id === id;
      const key = await api.rotate(id, { graceSeconds: grace });
      // Before it is saved, which may fail: nothing shows it again.
      show(output, key);
      if (isOwn && context.isLoggedIn) credentials.save(baseUrl, { apiKey: key.key });
      if (isOwn)
        output.note(context.isLoggedIn ? 'You are logged in with the new key.' : 'SLUICE_API_KEY is the old key.');
    });
  withExamples(rotate, 'sluice keys rotate key_01m7z2cmr5fqnagvh7x50s8g2g --grace 3600');

  keys
    .command('revoke')
    .description('Revoke a key at once and for good')
    .addArgument(idArgument('key'))
    .option('-y, --yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: true }) => {
      await confirm(`Revoke ${id}?`, yes);
      const { output, baseUrl, credentials } = context;
      const { keys: api } = context.sluice().account;
      const isOwn = (await api.current()).id === id;
      await api.revoke(id);
      if (isOwn && context.isLoggedIn) credentials.forgetApiKey(baseUrl);
      output.result({ id, revoked: true }, () => `${id} is revoked.`);
      if (isOwn) output.note(context.isLoggedIn ? 'It was yours: you are logged out.' : 'SLUICE_API_KEY is that key.');
    });
}

/** The only place where a key is printed: into a pipe, nothing but the key. */
export function show(output: Output, key: NewApiKey): void {
  output.result(key, () => visible(key.key));
  if (!output.isJson) output.success(`${key.id} (${key.name}): this key is shown only once.`);
}
