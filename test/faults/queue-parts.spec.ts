import type { Redis } from 'ioredis';
import { fromJob, WORKER_NAME, type DeliveryJobData } from '#delivery/adapters/bullmq/delivery-job.js';
import type { Message } from '#messages/domain/message.js';

import { openReconciling, openReconcilingOnRedis, type Reconciling } from '../contracts/reconciling-process.js';
import { messages } from '../support/messages.js';
import { NO_REDIS } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';

jest.setTimeout(240_000);

const MESSAGES = 20;
/** Those whose jobs are damaged one by one. */
const SOME = 5;

async function queued({ store, bullmq }: Reconciling): Promise<Message[]> {
  const all = messages(MESSAGES);
  for (const message of all) await store.put(message);
  await bullmq.queue.add(all);
  return all;
}

/** Fails unless workers get all of these after the reconciler has run twice. */
async function expectDelivered(parts: Reconciling, all: readonly Message[]): Promise<void> {
  for (let run = 0; run < 2; run++) {
    await parts.reconcile();
    await parts.relay.sweep(0);
  }
  const delivered = new Set<string>();
  const worker = parts.bullmq.shard.createWorker(
    async (job) => {
      const { id, retries } = fromJob(job.id ?? '', job.data as DeliveryJobData);
      job.opts.removeOnComplete = true;
      await parts.deliveries.follow([{ id, retries, attempts: 1, failedReason: null, run: null }]);
      delivered.add(id);
      return WORKER_NAME;
    },
    { name: WORKER_NAME, autorun: false, lockDuration: 5_000, stalledInterval: 50, maxStalledCount: 1_000 },
  );
  worker.on('error', () => undefined);
  void worker.run();
  try {
    await parts.store.until(() => delivered.size === all.length);
  } finally {
    await worker.close();
  }
  expect(await parts.strays.count()).toBe(0);
}

interface Loss {
  readonly loss: string;
  /** Messages that the census counts until they are queued again. */
  readonly counted: number;
}

interface RedisLoss extends Loss {
  /** Where the jobs are at the time. */
  readonly from?: 'wait' | 'prioritized' | 'delayed' | 'active';
  readonly lose: (redis: Redis, key: (name: string) => string, ids: readonly string[]) => Promise<unknown>;
}

const PLACES = ['wait', 'prioritized', 'delayed', 'active'] as const;

const each = (ids: readonly string[], work: (id: string) => Promise<unknown>) =>
  Promise.all(ids.slice(0, SOME).map((id) => work(id)));

const replace = async (redis: Redis, key: string) => {
  await redis.set(key, 'not what belongs here');
};

const replaceByHash = async (redis: Redis, key: string) => {
  await redis.del(key);
  await redis.hset(key, 'x', 'y');
};

const addTo = (redis: Redis, key: (name: string) => string, place: string, id: string) =>
  place === 'wait' || place === 'active' ? redis.lpush(key(place), id) : redis.zadd(key(place), Date.now(), id);

const ofPlaces: RedisLoss[] = PLACES.flatMap((from): RedisLoss[] => [
  { loss: `${from} is lost`, from, counted: MESSAGES, lose: (redis, key) => redis.del(key(from)) },
  { loss: `${from} is a string`, from, counted: MESSAGES, lose: (redis, key) => replace(redis, key(from)) },
  {
    loss: `the hashes of some jobs in ${from} are lost`,
    from,
    counted: SOME,
    lose: (redis, key, ids) => each(ids, (id) => redis.del(key(id))),
  },
  {
    loss: `the hashes of some jobs in ${from} have only what a worker wrote`,
    from,
    counted: SOME,
    lose: (redis, key, ids) =>
      each(ids, async (id) => {
        await redis.del(key(id));
        await redis.hset(key(id), 'processedOn', Date.now(), 'pb', WORKER_NAME, 'ats', 1);
      }),
  },
  {
    loss: `some jobs in ${from} are strings`,
    from,
    counted: SOME,
    lose: (redis, key, ids) => each(ids, (id) => replace(redis, key(id))),
  },
  { loss: `${from} is a hash`, from, counted: MESSAGES, lose: (redis, key) => replaceByHash(redis, key(from)) },
  ...['completed', 'failed', ...PLACES].map((other): RedisLoss => ({
    loss: `some jobs in ${from} are in ${other}, too`,
    from,
    counted: 0,
    lose: (redis, key, ids) => each(ids, (id) => addTo(redis, key, other, id)),
  })),
  {
    loss: `${from} has jobs that never existed`,
    from,
    counted: 0,
    lose: (redis, key) => each(['x', 'msg_0', '1'], (id) => addTo(redis, key, from, id)),
  },
  {
    loss: `timestamp of some jobs in ${from} is lost`,
    from,
    counted: SOME,
    lose: (redis, key, ids) => each(ids, (id) => redis.hdel(key(id), 'timestamp')),
  },
  {
    loss: `${from} and the hashes of some of its jobs are lost`,
    from,
    counted: MESSAGES,
    lose: async (redis, key, ids) => {
      await redis.del(key(from));
      await each(ids, (id) => redis.del(key(id)));
    },
  },
]);

/** As long as our data: no JSON, one that was cut off, and those of no message or of another one. */
const LONG = ['x'.repeat(200), `{"v":1,"${'x'.repeat(200)}`, `["${'x'.repeat(200)}"]`, `{"id":"${'x'.repeat(200)}"}`];

/** Fields of the hash of a job, what they become, and whether no worker can take or read the job any more. */
const FIELDS: readonly (readonly [field: string, value: string | null, isBroken: boolean])[] = [
  ...[null, '', 'x', 'null', '{"'].map((value) => ['data', value, true] as const),
  ...LONG.map((value) => ['data', value, true] as const),
  ...[null, '', '[]'].map((value) => ['opts', value, false] as const),
  ...['x', 'null', '{"', '1'].map((value) => ['opts', value, true] as const),
  ...[null, '', 'x'].map((value) => ['name', value, false] as const),
  ...['delay', 'priority', 'atm', 'ats'].flatMap((field) => [
    ...[null, '-1'].map((value) => [field, value, false] as const),
    ...['', 'x', '1e400'].map((value) => [field, value, true] as const),
  ]),
  ['timestamp', 'x', true],
];

const ofFields: RedisLoss[] = PLACES.flatMap((from) =>
  FIELDS.map(([field, value, isBroken]): RedisLoss => ({
    loss: `${field} of some jobs in ${from} is ${value === null ? 'lost' : JSON.stringify(value)}`,
    from,
    counted: isBroken ? SOME : 0,
    lose: (redis, key, ids) =>
      each(ids, (id) => (value === null ? redis.hdel(key(id), field) : redis.hset(key(id), field, value))),
  })),
);

const NAMES = ['marker', 'meta', 'pc', 'id', 'stalled', 'stalled-check', 'limiter', 'events', 'sluice-events'] as const;
const ofKeys: RedisLoss[] = [...NAMES, 'completed', 'failed', 'paused', 'sluice-turns'].flatMap((name): RedisLoss[] => [
  { loss: `${name} is lost`, counted: 0, lose: (redis, key) => redis.del(key(name)) },
  { loss: `${name} is a string without end`, counted: 0, lose: (redis, key) => replace(redis, key(name)) },
  {
    loss: `${name} is a list`,
    counted: 0,
    lose: async (redis, key) => {
      await redis.del(key(name));
      await redis.rpush(key(name), 'x');
    },
  },
]);

const PAIRED = ['wait', 'active', 'marker', 'meta', 'stalled', 'id', 'events'] as const;

const others: RedisLoss[] = [
  {
    loss: 'jobs are only in paused, although the queue is not',
    counted: MESSAGES,
    from: 'wait',
    lose: (redis, key) => redis.rename(key('wait'), key('paused')),
  },
  {
    loss: 'active jobs have locks without end',
    counted: 0,
    from: 'active',
    lose: (redis, key, ids) => each(ids, (id) => redis.set(`${key(id)}:lock`, 'gone')),
  },
  {
    loss: 'active jobs have locks of a wrong type',
    counted: 0,
    from: 'active',
    lose: (redis, key, ids) => each(ids, (id) => redis.rpush(`${key(id)}:lock`, 'gone')),
  },
  {
    loss: 'waiting jobs have locks without end',
    counted: 0,
    from: 'wait',
    lose: (redis, key, ids) => each(ids, (id) => redis.set(`${key(id)}:lock`, 'gone')),
  },
  ...PAIRED.flatMap((one, index) =>
    PAIRED.slice(index + 1).map((two): RedisLoss => ({
      loss: `${one} and ${two} are lost`,
      counted: one === 'wait' ? MESSAGES : 0,
      from: 'wait',
      lose: (redis, key) => redis.del(key(one), key(two)),
    })),
  ),
  {
    loss: 'everything but the jobs is lost',
    counted: MESSAGES,
    lose: (redis, key) => redis.del([...PLACES, ...NAMES, 'completed', 'failed', 'paused', 'sluice-turns'].map(key)),
  },
  {
    loss: 'all jobs are lost, and nothing else',
    counted: MESSAGES,
    lose: (redis, key, ids) => redis.del(ids.map(key)),
  },
];

describeUnless(NO_REDIS)('All messages are delivered after two runs of the reconciler although on Redis', () => {
  let parts: Awaited<ReturnType<typeof openReconcilingOnRedis>>;
  beforeAll(async () => {
    parts = await openReconcilingOnRedis();
  });
  beforeEach(() => parts.reset());
  afterAll(() => parts.close());

  /** Moves all jobs to one place. */
  const move = async (redis: Redis, key: (name: string) => string, to: string, ids: readonly string[]) => {
    await redis.del(PLACES.map((place) => key(place)));
    for (const id of ids) {
      if (to === 'wait' || to === 'active') await redis.lpush(key(to), id);
      else await redis.zadd(key(to), 1, id);
    }
    await redis.zadd(key('marker'), 0, '0');
  };

  it.each([...ofPlaces, ...ofFields, ...ofKeys, ...others])('$loss', async ({ counted, from, lose }) => {
    const all = await queued(parts);
    const ids = all.map(({ jobId }) => jobId);
    const key = (name: string) => parts.queue.shard.key(name);
    await parts.queue.redis.run(async (redis) => {
      if (from !== undefined) await move(redis, key, from, ids);
      await lose(redis, key, ids);
    });
    expect(await parts.strays.count()).toBe(counted);
    await expectDelivered(parts, all);
  });
});

describe('All messages are delivered after two runs of the reconciler although on PostgreSQL', () => {
  let parts: Reconciling;
  beforeAll(async () => {
    parts = await openReconciling();
  });
  beforeEach(() => parts.reset());
  afterAll(() => parts.close());

  const FAR = `(extract(epoch FROM now()) * 1000)::bigint + 3600000`;
  const losses: (Loss & { sql: string })[] = [
    { loss: 'all jobs are lost', counted: MESSAGES, sql: 'DELETE FROM bullmq.job' },
    {
      loss: 'some jobs are lost',
      counted: SOME,
      sql: `DELETE FROM bullmq.job WHERE id IN (SELECT id FROM bullmq.job ORDER BY id LIMIT ${SOME})`,
    },
    { loss: 'jobs are in another queue', counted: MESSAGES, sql: `UPDATE bullmq.job SET queue = 'another'` },
    {
      loss: 'jobs are active without a lock',
      counted: 0,
      sql: `UPDATE bullmq.job SET state = 'active', locked_until_ms = NULL`,
    },
    {
      loss: 'jobs are active with a dead lock',
      counted: 0,
      sql: `UPDATE bullmq.job SET state = 'active', lock_token = 'gone', locked_until_ms = 1`,
    },
    {
      loss: 'jobs are active with a lock far ahead',
      counted: 0,
      sql: `UPDATE bullmq.job SET state = 'active', lock_token = 'gone', processed_by = '${WORKER_NAME}', locked_until_ms = ${FAR}`,
    },
    {
      loss: 'jobs are delayed far beyond their delay',
      counted: 0,
      sql: `UPDATE bullmq.job SET state = 'delayed', delay_ms = 10, processed_by = '${WORKER_NAME}', process_at_ms = ${FAR}`,
    },
    {
      loss: 'jobs have failed',
      counted: MESSAGES,
      sql: `UPDATE bullmq.job SET state = 'failed', processed_by = '${WORKER_NAME}'`,
    },
    { loss: 'jobs wait for children', counted: 0, sql: `UPDATE bullmq.job SET state = 'waiting-children'` },
    { loss: 'the settings of the queue are lost', counted: 0, sql: 'DELETE FROM bullmq.meta' },
    { loss: 'all events are lost', counted: 0, sql: 'DELETE FROM bullmq.event' },
  ];

  it.each(losses)('$loss', async ({ counted, sql }) => {
    const all = await queued(parts);
    await parts.store.sql(sql);
    expect(await parts.strays.count()).toBe(counted);
    await expectDelivered(parts, all);
  });
});
