import { setTimeout as sleep } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { Message } from '#client/index.js';
import { id, limitOption, withExamples } from '../input/arguments.js';
import { typeFilterOption } from '../input/message-fields.js';
import { timeOption } from '../input/times.js';
import type { Context } from '../support/context.js';
import { firstOf } from '../support/lists.js';
import { MESSAGE_COLUMNS, STATUSES } from '../support/messages.js';
import { outputClosed } from '../support/pipes.js';
import { stopSignal } from '../support/signals.js';

interface ListOptions {
  readonly status?: Message['status'];
  readonly endpoint?: string;
  readonly type?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly watch?: true;
}

/** A list is requested at most so often: the smallest plans admit 60 requests a minute. */
const WATCH_MS = 5_000;
/** Characters of a text: more than a line of most terminals. */
const PREVIEW = 500;
const NONE = 'There are no such messages.';
/** Of a delivery to an endpoint. */
const ENDED = ['failed', 'delivered'];

export function addList(program: Command, context: Context): void {
  const list = program
    .command('list')
    .alias('ls')
    .description('List messages, newest first')
    .addOption(new Option('-s, --status <status>', 'only messages with this status').choices(STATUSES))
    .addOption(
      new Option('-e, --endpoint <id>', 'only messages for this endpoint; --status is then that of the delivery to it')
        .argParser(id('ep'))
        .conflicts('type'),
    )
    .addOption(typeFilterOption('messages'))
    .addOption(timeOption('--since <time>', 'only messages that were accepted from this time on'))
    .addOption(timeOption('--until <time>', 'only messages that were accepted before this time'))
    .addOption(limitOption(20))
    .option('-w, --watch', 'show the list again when a message changes, until Ctrl-C')
    .action(async ({ endpoint, limit, watch, ...filter }: ListOptions) => {
      const { output } = context;
      if (watch === true && (!output.isTerminal || output.isJson)) {
        list.error('error: --watch is for terminals: sluice tail prints each change, also with --json');
      }
      if (endpoint !== undefined && !ENDED.includes(filter.status ?? 'failed')) {
        list.error('error: with --endpoint, --status must be failed or delivered');
      }
      const sluice = context.sluice();
      // What programs read is whole.
      const preview = output.isTerminal && !output.isJson ? PREVIEW : undefined;
      const newest = (count: number) =>
        firstOf(sluice.messages.list({ ...filter, endpointId: endpoint, limit: Math.min(count, 100), preview }), count);
      if (watch !== true) return output.list(newest(limit), MESSAGE_COLUMNS, NONE);
      return whenChanged(context, async () => {
        const loaded = [];
        for await (const page of newest(Math.min(limit, output.height))) loaded.push(...page);
        output.screen(loaded, MESSAGE_COLUMNS, NONE);
      });
    });
  withExamples(
    list,
    'sluice list',
    'sluice list --status failed --limit 100',
    "sluice list --type 'order.*' --since 2026-11-21",
    'sluice list --watch',
    "sluice list --json | jq -r '.[].message'",
  );
}

/** Shows something now and after each change of a message, until Ctrl-C. */
async function whenChanged(context: Context, show: () => Promise<void>): Promise<void> {
  const signal = AbortSignal.any([stopSignal(), outputClosed]);
  const changes = new Changes();
  // What happened before the stream began is shown as well.
  const onConnect = () => {
    changes.add();
  };
  const events = context.sluice().events({ signal, onConnect });
  const followed = (async () => {
    for (let next = await events.next(); next.done !== true; next = await events.next()) changes.add();
  })();
  // It is awaited later.
  followed.catch(() => undefined);
  try {
    while (!signal.aborted) {
      const changed = changes.next();
      await show();
      await sleep(WATCH_MS, undefined, { signal });
      await Promise.race([changed, followed]);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await followed;
}

/** Wakes up who waits for a change. */
class Changes {
  private wake = (): void => undefined;

  add(): void {
    this.wake();
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
