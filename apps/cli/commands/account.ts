import { Argument, type Command } from 'commander';
import type { DeliveryMode, UsageWindow } from '#client/index.js';
import { withExamples } from '../input/arguments.js';
import type { Context } from '../support/context.js';
import { bytes, count, duration, type Share } from '../support/output.js';
import { visible } from '../support/visible.js';
import { HISTORY_COLUMNS, showHistory, withHistoryOptions, type HistoryOptions } from './usage.js';

const MODES = ['handler', 'webhooks', 'pull'] as const satisfies readonly DeliveryMode[];

export function addAccount(program: Command, context: Context): void {
  const usage = withHistoryOptions(
    program
      .command('usage')
      .description(
        'Show how much of the limits and the storage is used and what waits, or with --by what was accepted',
      ),
  ).action(async (options: HistoryOptions) => {
    const { output } = context;
    const { csv, ...range } = options;
    if (Object.keys(options).length > 0) {
      if (range.by === undefined) usage.error('error: --since, --until and --csv need --by hour or --by day');
      await showHistory(output, context.sluice().account.usageHistory(range), HISTORY_COLUMNS, csv);
      return;
    }
    const used = await context.sluice().account.usage();
    const { minute, day, messages, storage } = used;
    const oldest = messages.oldestQueuedAt;
    output.result(used, () =>
      output.fields({
        Minute: windowField(minute),
        Day: windowField(day),
        Storage: storageField(storage.usedBytes, storage.limitBytes),
        Queued: `${count(messages.queued)}${oldest === null ? '' : `, the oldest for ${duration(secondsSince(oldest))}`}`,
        Scheduled: count(messages.scheduled),
        Delivered: `${count(messages.deliveredPerMinute)} a minute`,
      }),
    );
  });
  withExamples(
    usage,
    'sluice usage',
    'sluice usage --json | jq .minute.remaining',
    'sluice usage --by day --since 2026-11-01',
    'sluice usage --by hour --csv > usage.csv',
  );

  const delivery = program
    .command('delivery')
    .description('Show or set the delivery mode of new messages')
    .addArgument(new Argument('[mode]').choices(MODES))
    .action(async (mode: DeliveryMode | undefined) => {
      const { account } = context.sluice();
      const changed = mode === undefined ? await account.get() : await account.update({ delivery: mode });
      context.output.result({ delivery: changed.delivery }, () => visible(changed.delivery));
    });
  withExamples(delivery, 'sluice delivery', 'sluice delivery pull');

  const setPaused = async (paused: boolean) => {
    const changed = await context.sluice().account.update({ paused });
    context.output.result({ paused: changed.paused }, () =>
      changed.paused
        ? 'Paused: messages are accepted, and not delivered until `sluice resume`.'
        : 'Messages are delivered.',
    );
  };
  const pause = program
    .command('pause')
    .description('Accept messages without delivering them')
    .action(() => setPaused(true));
  withExamples(pause, 'sluice pause');

  const resume = program
    .command('resume')
    .description('Deliver messages again after a pause')
    .action(() => setPaused(false));
  withExamples(resume, 'sluice resume');
}

function windowField({ used, limit, resetsAt }: UsageWindow): Share {
  const left = duration(Math.max(-secondsSince(resetsAt), 0));
  return { share: used / Math.max(limit, 1), text: `${count(used)} of ${count(limit)}, resets in ${left}` };
}

function storageField(used: number, limit: number | null): Share {
  if (limit === null) return { text: `${bytes(used)}, no limit` };
  return { share: used / limit, text: `${bytes(used)} of ${bytes(limit)}` };
}

function secondsSince(at: string): number {
  return (Date.now() - Date.parse(at)) / 1_000;
}
