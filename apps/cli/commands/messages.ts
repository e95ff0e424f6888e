import { Option, type Command } from 'commander';
import { ConflictError, NotFoundError, type Attempt, type Message, type Sluice } from '#client/index.js';
import { idArgument, visibleAscii, withExamples } from '../input/arguments.js';
import { selects, typeFilterOption } from '../input/message-fields.js';
import { timeOption } from '../input/times.js';
import type { Context } from '../support/context.js';
import { CliError } from '../support/exit-codes.js';
import { reasonOf, report } from '../support/errors.js';
import { messageLine, STATUSES } from '../support/messages.js';
import { count, time } from '../support/output.js';
import type { Column } from '../support/table.js';
import { outputClosed } from '../support/pipes.js';
import { stopSignal } from '../support/signals.js';
import { visible } from '../support/visible.js';
import { addList } from './list.js';

const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  ['#', ({ number }) => String(number)],
  ['OUTCOME', ({ outcome }) => outcome],
  ['TARGET', ({ target }) => target],
  ['STARTED', ({ startedAt }) => time(startedAt)],
  ['MS', ({ durationMs }) => String(durationMs ?? '-')],
  ['STATUS', ({ responseStatus }) => String(responseStatus ?? '-')],
  ['ERROR', ({ error }) => error ?? ''],
];

interface CancelOptions {
  readonly type?: string;
  readonly since?: string;
  readonly until?: string;
  readonly all?: true;
}

/** One request cancels at most so many. */
export const MAX_CANCELLED = 1_000_000;

export function addMessages(program: Command, context: Context): void {
  addList(program, context);

  const get = program
    .command('get')
    .description('Show a message')
    .addArgument(idArgument('msg'))
    .action(async (id: string) => {
      const { output } = context;
      const message = await context.sluice().messages.get(id);
      output.result(message, () =>
        output.fields({
          Id: message.id,
          Status: message.status,
          Created: time(message.createdAt),
          Updated: time(message.updatedAt),
          ...(message.deliverAt !== undefined && { 'Deliver at': time(message.deliverAt) }),
          Delivery: message.delivery,
          Attempts: message.attempts,
          ...(message.nextAttemptAt !== null && { 'Next attempt': time(message.nextAttemptAt) }),
          ...(message.type !== undefined && { Type: message.type }),
          ...(message.metadata !== undefined && { Metadata: JSON.stringify(message.metadata) }),
          ...(message.orderingKey !== undefined && { 'Ordering key': message.orderingKey }),
          ...(message.failureReason !== null && { Failure: message.failureReason }),
          Message: message.message,
        }),
      );
    });
  withExamples(get, 'sluice get msg_01m7z3xhqzeywbegcvm7ee64q0', 'sluice get msg_… --json | jq -r .message');

  const attempts = program
    .command('attempts')
    .description('List the attempts to deliver a message')
    .addArgument(idArgument('msg'))
    .action(async (id: string) => {
      const { output } = context;
      const made = await context.sluice().messages.attempts(id);
      await output.list([made], ATTEMPT_COLUMNS, 'There are no attempts.');
    });
  withExamples(attempts, 'sluice attempts msg_01m7z3xhqzeywbegcvm7ee64q0');

  const cancel = program
    .command('cancel')
    .description('Cancel queued messages')
    .addArgument(idArgument('msg', '[id...]'))
    .addOption(typeFilterOption('all messages'))
    .addOption(timeOption('--since <time>', 'all messages that were accepted from this time on'))
    .addOption(timeOption('--until <time>', 'all messages that were accepted before this time'))
    .option('--all', 'all messages')
    .action(async (ids: string[], { all, ...filter }: CancelOptions) => {
      const isBulk = all === true || Object.keys(filter).length > 0;
      if ((ids.length === 0) !== isBulk)
        cancel.error('error: name ids, or select messages with --type, --since, --until or --all');
      if (!isBulk) return each(ids, context, (sluice, id) => sluice.messages.cancel(id));
      const sluice = context.sluice();
      let cancelled = 0;
      for (let more = true; more;) {
        const { count: some } = await sluice.messages.cancelAll(filter);
        cancelled += some;
        more = some >= MAX_CANCELLED;
      }
      context.output.result({ count: cancelled }, () => `${count(cancelled, 'message')} cancelled.`);
      return undefined;
    });
  withExamples(
    cancel,
    'sluice cancel msg_01m7z3xhqzeywbegcvm7ee64q0',
    "sluice cancel --type 'order.*' --until 2026-11-21T09:00:00Z",
    'sluice cancel --all',
  );

  const retry = program
    .command('retry')
    .description('Queue failed messages again')
    .addArgument(idArgument('msg', '[id...]'))
    .addOption(typeFilterOption('failed messages'))
    .addOption(timeOption('--since <time>', 'all failed messages that were created from this time on'))
    .addOption(timeOption('--until <time>', 'and before this time (now)'))
    .action(async (ids: string[], { since, until, type }: { since?: string; until?: string; type?: string }) => {
      if ((ids.length === 0) === (since === undefined)) retry.error('error: name ids, or a time with --since');
      if (since === undefined && until !== undefined) retry.error('error: --until requires --since');
      if (since === undefined && type !== undefined) retry.error('error: --type requires --since');
      if (since === undefined) return each(ids, context, (sluice, id) => sluice.messages.retry(id));
      const filter = { since, until: until ?? new Date().toISOString(), type };
      if (since >= filter.until) retry.error('error: --since must be in the past');
      const retried = await context.sluice().messages.retryAll(filter);
      context.output.result(retried, () => `${count(retried.count, 'message')} queued again.`);
      return undefined;
    });
  withExamples(
    retry,
    'sluice retry msg_01m7z3xhqzeywbegcvm7ee64q0',
    'sluice list --status failed | cut -f1 | xargs sluice retry',
    'sluice retry --since 2026-11-21T09:00:00Z',
    "sluice retry --since 2026-11-21T09:00:00Z --type 'order.*'",
  );

  const tail = program
    .command('tail')
    .description('Show each change of status as it happens, until Ctrl-C')
    .addOption(new Option('-s, --status <status>', 'only changes to this status').choices(STATUSES))
    .addOption(typeFilterOption('changes of messages'))
    .option('--after <event>', 'begin after the event with this id, of at most an hour ago (see --json)', visibleAscii)
    .action(async (options: { status?: Message['status']; type?: string; after?: string }) => {
      const { output } = context;
      const signal = AbortSignal.any([stopSignal(), outputClosed]);
      const { after } = options;
      const events = context.sluice().events({
        signal,
        lastEventId: after,
        onConnect: () => {
          output.note('Waiting for changes. Press Ctrl-C to stop.');
        },
        onDisconnect: (error) => {
          output.warn(`The connection was lost.${error === null ? '' : ` ${reasonOf(error)}`} Connecting again …`);
        },
      });
      for await (const event of events) {
        const { message } = event;
        if (options.status !== undefined && message.status !== options.status) continue;
        if (options.type !== undefined && !selects(options.type, message.type)) continue;
        const gap = output.isTerminal ? '  ' : '\t';
        output.item(
          event,
          () => `${output.style('dim', visible(time(message.updatedAt)))}${gap}${messageLine(output, message)}`,
        );
      }
    });
  withExamples(tail, 'sluice tail', 'sluice tail --status failed --json | jq -r .message.id');
}

/** Does something to each of some messages. One that fails does not keep the others from it. */
async function each(
  ids: readonly string[],
  context: Context,
  act: (sluice: Sluice, id: string) => Promise<Pick<Message, 'id' | 'status' | 'type' | 'message'>>,
): Promise<void> {
  const { output } = context;
  const sluice = context.sluice();
  let failures = 0;
  for (const id of ids) {
    try {
      const message = await act(sluice, id);
      output.item(message, () => messageLine(output, message));
    } catch (error) {
      // Any other error would also occur for the next one.
      if (ids.length === 1 || !(error instanceof NotFoundError || error instanceof ConflictError)) throw error;
      report(error, output, id);
      failures++;
    }
  }
  if (failures > 0) throw new CliError(`${failures} of ${ids.length} failed.`);
}
