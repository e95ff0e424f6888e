import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Endpoint, EndpointDelivery } from '#client/index.js';
import { idArgument, integer, limitOption, withExamples } from '../input/arguments.js';
import { typeFilter } from '../input/message-fields.js';
import { timeOption } from '../input/times.js';
import { endpointUrl } from '../input/urls.js';
import type { Context } from '../support/context.js';
import { CliError } from '../support/exit-codes.js';
import { firstOf } from '../support/lists.js';
import { count, time, type Output } from '../support/output.js';
import type { Column } from '../support/table.js';
import { confirm } from '../support/prompts.js';
import { visible } from '../support/visible.js';

const COLUMNS: readonly Column<Endpoint>[] = [
  ['ID', ({ id }) => id],
  [
    'STATE',
    ({ enabled, disabledReason }) => (enabled ? 'enabled' : `disabled (${disabledReason ?? ''})`),
    ({ enabled }) => (enabled ? 'green' : 'red'),
  ],
  ['FAILING SINCE', ({ failingSince }) => time(failingSince)],
  ['URL', ({ url }) => url],
  ['TYPES', ({ types }) => typesOf(types)],
  ['DESCRIPTION', ({ description }) => description],
];

const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const satisfies readonly EndpointDelivery['status'][];

const DELIVERY_COLUMNS: readonly Column<EndpointDelivery>[] = [
  ['MESSAGE', ({ messageId }) => messageId],
  ['STATUS', ({ status }) => status],
  ['ATTEMPTS', ({ attempts }) => count(attempts)],
  ['NEXT', ({ nextAttemptAt }) => time(nextAttemptAt)],
  ['RESPONSE', ({ responseStatus, error }) => String(responseStatus ?? error ?? '')],
];

interface Settings {
  readonly url?: string;
  readonly description?: string;
  readonly rateLimit?: number;
  readonly type?: readonly string[];
  readonly allTypes?: true;
  readonly header?: Readonly<Record<string, string>>;
  readonly withoutHeaders?: true;
  readonly enable?: true;
  readonly disable?: true;
}

export function addEndpoints(program: Command, context: Context): void {
  const endpoints = program.command('endpoints').description('Manage the endpoints to which your messages are posted');
  const api = () => context.sluice().endpoints;

  endpoints
    .command('list')
    .alias('ls')
    .description('List endpoints, newest first')
    .addOption(limitOption(50))
    .action(({ limit }: { limit: number }) =>
      context.output.list(firstOf(api().list(), limit), COLUMNS, 'There are no endpoints.'),
    );

  const create = withSettings(endpoints.command('create').description('Create an endpoint'))
    .argument('<url>', 'where messages are posted', endpointUrl)
    .action(async (url: string, settings: Settings) => {
      const endpoint = await api().create({ ...changesOf(settings), url });
      showSecret(context.output, endpoint, endpoint.id);
    });
  withExamples(
    create,
    "sluice endpoints create https://example.com/hooks --type 'order.*' --header 'Authorization: Bearer abc'",
  );

  endpoints
    .command('get')
    .description('Show an endpoint')
    .addArgument(idArgument('ep'))
    .action(async (id: string) => {
      show(context.output, await api().get(id));
    });

  endpoints
    .command('deliveries')
    .description('List what an endpoint got, still gets or has missed, newest message first')
    .addArgument(idArgument('ep'))
    .addOption(new Option('-s, --status <status>', 'only deliveries with this status').choices(DELIVERY_STATUSES))
    .addOption(limitOption(20))
    .action((id: string, { status, limit }: { status?: EndpointDelivery['status']; limit: number }) =>
      context.output.list(
        firstOf(api().deliveries(id, { status, limit: Math.min(limit, 100) }), limit),
        DELIVERY_COLUMNS,
        'There are no such deliveries.',
      ),
    );

  const update = withSettings(endpoints.command('update').description('Change an endpoint'))
    .addArgument(idArgument('ep'))
    .option('--url <url>', 'where messages are posted', endpointUrl)
    .addOption(new Option('--all-types', 'give it messages of all types').conflicts('type'))
    .addOption(new Option('--without-headers', 'send no headers along').conflicts('header'))
    .action(async (id: string, settings: Settings) => {
      const changes = changesOf(settings);
      if (Object.keys(changes).length === 0) update.error('error: name what to change by an option');
      show(context.output, await api().update(id, changes));
    });
  withExamples(update, 'sluice endpoints update ep_01m7z3xhqzeywbegcvm7ee64q0 --enable');

  endpoints
    .command('delete')
    .description('Delete an endpoint. Messages waiting for it are not posted')
    .addArgument(idArgument('ep'))
    .option('-y, --yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: true }) => {
      await confirm(`Delete ${id}?`, yes);
      await api().delete(id);
      context.output.result({ id, deleted: true }, () => `${id} is deleted.`);
    });

  const rotate = endpoints
    .command('rotate-secret')
    .description('Replace the secret of an endpoint')
    .addArgument(idArgument('ep'))
    .option('--grace <seconds>', 'how long the old one signs as well', integer(0, 2_592_000), 0)
    .option('-y, --yes', 'do not ask when the old one stops signing at once')
    .action(async (id: string, { grace, yes }: { grace: number; yes?: true }) => {
      if (grace === 0) await confirm(`Replace the secret of ${id}, which stops signing at once?`, yes);
      showSecret(context.output, await api().rotateSecret(id, { graceSeconds: grace }), id);
    });
  withExamples(rotate, 'sluice endpoints rotate-secret ep_01m7z3xhqzeywbegcvm7ee64q0 --grace 3600');

  const test = endpoints
    .command('test')
    .description('Post a test to an endpoint and show its response')
    .addArgument(idArgument('ep'))
    .action(async (id: string) => {
      const { output } = context;
      const { status, durationMs, error, body } = await api().test(id);
      output.result({ status, durationMs, error, body }, () =>
        output.fields({ Status: status ?? error, Took: `${durationMs} ms`, Body: body }),
      );
      if (status === null || status < 200 || status > 299) throw new CliError('The endpoint did not accept the test.');
    });
  withExamples(test, 'sluice endpoints test ep_01m7z3xhqzeywbegcvm7ee64q0');

  const replay = endpoints
    .command('replay')
    .description('Post the messages of a period that an endpoint has not received')
    .addArgument(idArgument('ep'))
    .addOption(timeOption('--since <time>', 'messages that were created from this time on').makeOptionMandatory())
    .addOption(timeOption('--until <time>', 'and before this time (now)'))
    .action(async (id: string, { since, until }: { since: string; until?: string }) => {
      const replayed = await api().replay(id, { since, until });
      context.output.result(replayed, () => `${count(replayed.count, 'message')} will be posted.`);
    });
  withExamples(replay, 'sluice endpoints replay ep_01m7z3xhqzeywbegcvm7ee64q0 --since 2026-11-21T09:00:00Z');
}

const typesOf = (types: readonly string[]): string => (types.length === 0 ? 'all' : types.join(', '));

const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, typeFilter(value)];

/** @param text `Name: value` */
function withHeader(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const colon = text.indexOf(':');
  const name = text.slice(0, colon).trim();
  if (colon < 0 || name === '') throw new InvalidArgumentError("Give it as 'Name: value'.");
  return { ...before, [name]: text.slice(colon + 1).trim() };
}

function withSettings(command: Command): Command {
  return command
    .option('--description <text>', 'what it is for')
    .option('--rate-limit <n>', 'requests a second at most; 0 for no limit', integer(0, 10_000))
    .option('--type <type>', 'give it only messages of this type, or of order.*; repeatable', collected)
    .option('--header <header>', "send 'Name: value' along; repeatable", withHeader)
    .option('--enable', 'give it new messages')
    .addOption(new Option('--disable', 'give it no messages').conflicts('enable'));
}

function changesOf({ url, description, rateLimit, type, allTypes, header, withoutHeaders, enable, disable }: Settings) {
  const types = allTypes === true ? [] : type;
  const headers = withoutHeaders === true ? {} : header;
  return {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...(rateLimit !== undefined && { rateLimitPerSecond: rateLimit }),
    ...(types !== undefined && { types: [...types] }),
    ...(headers !== undefined && { headers }),
    ...((enable ?? disable) === true && { enabled: enable === true }),
  };
}

function show(output: Output, endpoint: Endpoint): void {
  output.result(endpoint, () =>
    output.fields({
      Id: endpoint.id,
      Url: endpoint.url,
      Description: endpoint.description,
      Enabled: endpoint.enabled ? 'yes' : `no: ${endpoint.disabledReason ?? ''} since ${time(endpoint.disabledAt)}`,
      'Failing since': time(endpoint.failingSince),
      Types: typesOf(endpoint.types),
      Headers: endpoint.headerNames.length === 0 ? 'none' : endpoint.headerNames.join(', '),
      'Rate limit': endpoint.rateLimitPerSecond === 0 ? 'none' : `${endpoint.rateLimitPerSecond} a second`,
      Created: time(endpoint.createdAt),
    }),
  );
}

function showSecret(output: Output, issued: { secret: string }, id: string): void {
  output.result(issued, () => visible(issued.secret));
  if (!output.isJson) output.success(`${id}: this secret is shown only once.`);
}
