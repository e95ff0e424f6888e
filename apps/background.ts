import type { INestApplicationContext, Type } from '@nestjs/common';
import { DeletionLog, Deletions, ForgetAccounts, LastUsedTracker } from '#accounts/accounts.module.js';
import { Consumer } from '#delivery/delivery.module.js';
import { ClockWatch, CurrentQueue, OutboxRelay } from '#delivery/queue.module.js';
import { Activity } from '#kernel/activity.js';
import { RepeatedTask, type BackgroundTask } from '#kernel/background-task.js';
import { PostgresAvailability, PostgresMessages, SpaceWatch, StorageCap } from '#messages/messages.module.js';
import { ExpiredLimits, PostgresLimiter } from '#rate-limiting/rate-limiting.module.js';
import { ApplyRetention, JobFollower, QueueRecovery, Reconciler } from '#upkeep/upkeep.module.js';
import { CountUsage } from '#usage/usage.module.js';
import { EndDeliveries, WebhookSender } from '#webhooks/sending.module.js';
import { openForgetting } from './forgetting.js';
import type { Settings } from './settings.js';

const RECOVER_EVERY_MS = 1_000;

/** Announced by a process that has work. It is the id of no account. */
const AWAKE = 'awake';

type Role = 'api' | 'worker';

/** In this order a process stops. What has the same stage stops at the same time. */
export const STAGES = ['clock', 'deliveries', 'upkeep', 'commits', 'counts', 'announcements', 'relay'] as const;

interface Running {
  start?(): unknown;
  stop(): Promise<unknown>;
}

interface Entry {
  readonly name: string;
  readonly does: string;
  readonly every: string;
  readonly in: readonly Role[];
  readonly stops: (typeof STAGES)[number];
  readonly open: (app: INestApplicationContext, settings: Settings) => Running;
}

const BOTH = ['api', 'worker'] as const;

/**
 * The background tasks of a process, in the order in which they start. They stop in stages, so that nothing is lost:
 * first no new work is taken, then work in progress ends, then buffered writes, and last the relay to the queue. Before
 * that, the API stops HTTP, its waiting leases and its streams (`api.ts`); after it, the modules close their
 * connections.
 */
export const BACKGROUND: readonly Entry[] = [
  {
    ...{
      name: 'ClockWatch',
      does: "compares the clock with the database's",
      every: '1/5 of WORKER_LOCK_MS, at most 1 s',
    },
    ...{ in: BOTH, stops: 'clock' },
    open: (app) => repeated(app, ClockWatch, 'before the start resolves'),
  },
  {
    ...{ name: 'OutboxRelay', does: 'relays what a crash has left, or what is due later', every: '250 ms' },
    ...{ in: BOTH, stops: 'relay' },
    open: (app) => {
      const relay = app.get(OutboxRelay);
      return {
        start: () => {
          relay.startSweeping(app.get(Activity));
        },
        stop: () => relay.close(),
      };
    },
  },
  {
    ...{ name: 'PostgresAvailability', does: 'announces what may be leased', every: 'after a change' },
    ...{ in: BOTH, stops: 'announcements' },
    open: (app) => {
      const [availability, activity] = [app.get(PostgresAvailability), app.get(Activity)];
      return {
        start: () => {
          activity.announceBy(() => {
            availability.announce([AWAKE]);
          });
          availability.listen(() => {
            activity.noteOthers();
          });
        },
        stop: () => availability.close(),
      };
    },
  },
  {
    ...{ name: 'StorageCap', does: 'writes what accounts have stored', every: '1 s' },
    ...{ in: BOTH, stops: 'counts' },
    open: (app) => repeated(app, StorageCap),
  },
  {
    ...{ name: 'SpaceWatch', does: 'measures the space that is left', every: '5 s' },
    ...{ in: BOTH, stops: 'counts' },
    open: (app) => repeated(app, SpaceWatch, 'before the start resolves'),
  },
  {
    ...{ name: 'LastUsedTracker', does: 'writes when keys were last used', every: '2 s' },
    ...{ in: ['api'], stops: 'counts' },
    open: (app) => repeated(app, LastUsedTracker),
  },
  {
    ...{ name: 'PostgresLimiter', does: 'writes strikes', every: 'after a refusal' },
    ...{ in: ['api'], stops: 'counts' },
    open: (app) => ({ stop: () => app.get(PostgresLimiter).close() }),
  },
  {
    ...{ name: 'ExpiredLimits', does: 'deletes expired windows and bans', every: '10 min' },
    ...{ in: ['api'], stops: 'upkeep' },
    open: (app) => repeated(app, ExpiredLimits),
  },
  {
    ...{ name: 'PostgresMessages', does: 'stores accepted messages', every: 'after a request' },
    ...{ in: BOTH, stops: 'commits' },
    open: (app) => ({ stop: () => app.get(PostgresMessages).idle() }),
  },
  {
    ...{ name: 'Reconciler', does: 'queues stray messages again', every: 'RECONCILE_INTERVAL_MS' },
    ...{ in: BOTH, stops: 'upkeep' },
    open: (app, { reconcileIntervalMs }) => {
      const [reconciler, clock, queue] = [app.get(Reconciler), app.get(ClockWatch), app.get(CurrentQueue)];
      return {
        start: () => {
          reconciler.start(reconcileIntervalMs, () => clock.isRight && queue.isCurrent);
        },
        stop: () => reconciler.close(),
      };
    },
  },
  {
    ...{ name: 'QueueRecovery', does: 'notices a queue that was lost or replaced', every: '1 s' },
    ...{ in: BOTH, stops: 'upkeep' },
    open: (app) => service(app.get(QueueRecovery), RECOVER_EVERY_MS),
  },
  {
    ...{ name: 'ApplyRetention', does: 'removes old messages, adds partitions', every: '1 h' },
    ...{ in: BOTH, stops: 'upkeep' },
    open: (app) => repeated(app, ApplyRetention, 'at once'),
  },
  {
    ...{ name: 'ForgetAccounts', does: 'removes what is stored of deleted accounts', every: '1 s' },
    ...{ in: ['api'], stops: 'upkeep' },
    open: (app) =>
      new RepeatedTask(
        new ForgetAccounts(app.get(Deletions), openForgetting(app), app.get(DeletionLog)),
        app.get(Activity),
      ),
  },
  {
    ...{ name: 'CountUsage', does: 'counts accepted messages by account and hour', every: '15 s' },
    ...{ in: BOTH, stops: 'upkeep' },
    open: (app) => repeated(app, CountUsage, 'at once'),
  },
  {
    ...{ name: 'JobFollower', does: 'reads how workers of other programs ended jobs', every: '500 ms' },
    ...{ in: BOTH, stops: 'upkeep' },
    open: (app) => repeated(app, JobFollower),
  },
  {
    ...{ name: 'Consumer', does: 'takes jobs and delivers their messages', every: 'always' },
    ...{ in: ['worker'], stops: 'deliveries' },
    open: (app, { shutdownGraceMs }) => {
      const consumer = app.get(Consumer);
      return {
        start: () => {
          consumer.start();
        },
        stop: () => consumer.close(shutdownGraceMs),
      };
    },
  },
  {
    ...{ name: 'WebhookSender', does: 'posts messages to endpoints', every: 'always' },
    ...{ in: ['worker'], stops: 'deliveries' },
    open: (app, { shutdownGraceMs }) => {
      const sender = app.get(WebhookSender);
      return {
        start: () => {
          sender.start();
        },
        stop: () => sender.close(shutdownGraceMs),
      };
    },
  },
  {
    ...{ name: 'EndDeliveries', does: 'ends deliveries that endpoints no longer want', every: '1 s' },
    ...{ in: ['worker'], stops: 'deliveries' },
    open: (app) => repeated(app, EndDeliveries),
  },
];

/** Starts and stops what the list has for a process. */
export class Background {
  private readonly running: readonly { readonly work: Running; readonly stops: Entry['stops'] }[];

  constructor(app: INestApplicationContext, settings: Settings, role: Role) {
    const entries = BACKGROUND.filter((entry) => entry.in.includes(role));
    this.running = entries.map(({ open, stops }) => ({ work: open(app, settings), stops }));
  }

  async start(): Promise<void> {
    for (const { work } of this.running) await work.start?.();
  }

  async stop(): Promise<void> {
    for (const stage of STAGES) {
      await Promise.all(this.running.filter(({ stops }) => stops === stage).map(({ work }) => work.stop()));
    }
  }
}

function repeated<Task extends BackgroundTask>(
  app: INestApplicationContext,
  type: Type<Task>,
  firstRun?: ConstructorParameters<typeof RepeatedTask>[2],
): Running {
  return new RepeatedTask(app.get<Task>(type), app.get(Activity), firstRun);
}

function service<Args extends unknown[]>(
  running: { start(...args: Args): unknown; close(): Promise<unknown> },
  ...args: Args
): Running {
  return { start: () => running.start(...args), stop: () => running.close() };
}
