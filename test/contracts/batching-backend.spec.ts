import { createPostgresBackend, withBackend, type Job, type Worker } from 'bullmq';
import { PostgresJobQueue } from '#delivery/adapters/bullmq/postgres/postgres-job-queue.js';
import { NO_TURN } from '#delivery/application/fair-scheduler.js';
import { EXCHANGE_JOBS } from '#delivery/adapters/bullmq/internals/postgres/exchange-jobs.sql.js';
import { WorkerPlaces } from '#delivery/adapters/bullmq/worker-places.js';
import { fromJob, WORKER_NAME, type DeliveryJobData } from '#delivery/adapters/bullmq/delivery-job.js';
import { aMessage, jobOf, messages, TRACEPARENT } from '../support/messages.js';
import { until } from '../support/processes.js';
import { describeBatchingWorker } from './batching-worker.js';
import { CURRENT, openBullMq, LOCK_MS, POLICY, QUEUE_NAME } from './bullmq-process.js';
import { PostgresStore } from './postgres-store.js';

describe('createBatchingBackend', () => {
  let store: PostgresStore;
  let process: ReturnType<typeof openBullMq>;
  const workers: Worker[] = [];
  beforeAll(async () => {
    store = await PostgresStore.open();
  });
  beforeEach(async () => {
    await store.reset();
    process = openBullMq(store.url);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const worker of workers.splice(0)) await worker.close();
    await process.bullmq.resume();
    await process.bullmq.removeGlobalConcurrency();
    await process.close();
  });
  afterAll(() => store.close());

  /** Starts a worker that removes the jobs that it completes. */
  function work(run: (job: Job) => Promise<unknown>, concurrency = 50, places?: WorkerPlaces): Worker {
    const processor = (job: Job) => {
      job.opts.removeOnComplete = true;
      return run(job);
    };
    const settings = { concurrency, lockDuration: 60_000, name: WORKER_NAME, ...(places && { places }) };
    const worker = process.connection.createWorker(processor, settings);
    worker.on('error', () => undefined);
    workers.push(worker);
    return worker;
  }

  /** The names of the statements of workers from now on. */
  function statements(): string[] {
    const names: string[] = [];
    const { pool } = process.connection;
    const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
    jest.spyOn(pool, 'query').mockImplementation((...args: unknown[]) => {
      const [statement] = args as [string | { name?: string; text: string }];
      names.push(typeof statement === 'string' ? statement : (statement.name ?? statement.text));
      return query(...args);
    });
    return names;
  }

  const soon = (holds: () => boolean | Promise<boolean>, otherwise: string) => until(holds, 60_000, () => otherwise);
  const left = () => store.sql<{ state: string }>('SELECT state FROM bullmq.job');

  it('lets two workers run every job once, many by one statement', async () => {
    const sent = messages(1_000);
    await process.queue.add(sent);
    const used = statements();
    const done: unknown[] = [];
    const run = (job: Job) => Promise.resolve(done.push(job.id));
    work(run);
    work(run);
    await soon(() => done.length >= 1_000, 'not all jobs were run');
    await soon(async () => (await left()).length === 0, 'jobs were left');
    expect(done.sort()).toEqual(sent.map(({ id }) => id).sort());
    expect(used.filter((name) => name === 'exchange-jobs').length).toBeLessThan(400);
    // The jobs that the check for stalled jobs had locked.
    expect(used.filter((name) => name.includes('move_to')).length).toBeLessThan(200);
  });

  it('takes jobs that wait together by one statement, also while no other job ends', async () => {
    await process.queue.add(messages(10));
    const used = statements();
    const ends: (() => void)[] = [];
    const run = () => new Promise<void>((resolve) => ends.push(resolve));
    work(run, 50, new WorkerPlaces(50, () => Promise.resolve(false)));
    await soon(() => ends.length === 10, 'not all jobs were taken');
    expect(used.filter((name) => name === 'exchange-jobs').length).toBeLessThanOrEqual(2);
    for (const end of ends) end();
  });

  it('adds the same jobs as the backend of BullMQ', async () => {
    const { connection, bullmq } = process;
    const { Queue: Plain } = withBackend(createPostgresBackend);
    const plain = new Plain(QUEUE_NAME, { connection: connection.pool as never });
    const jobs = ['c', 'a', 'ä"\\\n💌', 'a'].map((jobId, index) => ({
      ...{ name: 'message', data: { text: `${jobId}"{}\\ 💌` } },
      opts: { jobId, attempts: index + 1, ...(index === 1 && { priority: 7, telemetry: { metadata: TRACEPARENT } }) },
    }));
    const stored: unknown[] = [];
    for (const queue of [plain, bullmq]) {
      await store.reset();
      const ids = (await queue.addBulk(jobs)).map(({ id }) => id);
      const rows = await store.sql<{ job: object }>(`SELECT to_jsonb(j) AS job FROM bullmq.job j ORDER BY seq`);
      stored.push([ids, rows.map(({ job }) => ({ ...job, seq: 0, added_at_ms: 0 }))]);
    }
    await plain.close();
    expect(stored[1]).toEqual(stored[0]);
    expect(stored[1]).toHaveProperty('1.length', 3);
  });

  it('gives a worker the same jobs, in the same order, as the backend of BullMQ', async () => {
    const special = aMessage({ traceparent: TRACEPARENT, text: 'ä"\\\n💌' });
    const sent = [special, ...messages(60), ...messages(3, { accountId: 'b' })];
    const { Worker: Plain } = withBackend(createPostgresBackend);
    const { connection } = process;
    const settings = { autorun: false, name: WORKER_NAME };
    const taken: unknown[][] = [];
    for (const open of [
      () => new Plain(QUEUE_NAME, null, { connection: connection.pool, ...settings } as never) as unknown as Worker,
      () => connection.createWorker(() => Promise.resolve(), settings),
    ]) {
      await store.reset();
      await new PostgresJobQueue(connection, POLICY, LOCK_MS, CURRENT).add(sent);
      const worker = open();
      workers.push(worker);
      const jobs: unknown[] = [];
      for (;;) {
        const job = (await worker.getNextJob('token', { block: false })) as Job<DeliveryJobData> | undefined;
        if (job === undefined) break;
        expect(job.processedOn).toBeGreaterThan(0);
        jobs.push({
          ...job.asJSON(),
          processedOn: 0,
          timestamp: 0,
          token: job.token,
          delay: job.delay,
          job: fromJob(job.id ?? '', job.data),
        });
      }
      taken.push(jobs);
    }
    expect(taken[0]).toHaveLength(64);
    expect(taken[1]).toEqual(taken[0]);
    expect(taken[1]).toContainEqual(expect.objectContaining({ job: jobOf(special) }));
  });

  describeBatchingWorker({
    process: () => process,
    work,
    steal: (jobId) => store.sql(`UPDATE bullmq.job SET lock_token = 'another worker' WHERE id = $1`, [jobId]),
  });

  it('reads few jobs also by a plan that was made while the queue was empty', async () => {
    await store.sql('VACUUM bullmq.job');
    const client = await process.connection.pool.connect();
    const values = [QUEUE_NAME, ['msg_1', null], ['one', 'other'], [true, true], 0, 60_000, 'sluice', NO_TURN];
    const statement = { name: 'exchange-jobs', text: EXCHANGE_JOBS, values };
    await client.query(statement);
    await store.sql(
      `INSERT INTO bullmq.job (queue, id, seq, name, state, added_at_ms, lock_token)
       SELECT $1, 'msg_' || n, n, 'message', (CASE n WHEN 1 THEN 'active' ELSE 'waiting' END)::bullmq.job_state, 0, 'one'
       FROM generate_series(1, 20000) n`,
      [QUEUE_NAME],
    );
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)
       EXECUTE "exchange-jobs" ('${QUEUE_NAME}', '{msg_1,NULL}', '{one,other}', '{true,true}', 0, 60000, 'sluice', ${NO_TURN})`,
    );
    client.release();
    expect((await left()).filter(({ state }) => state === 'active')).toHaveLength(2);
    expect(rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks']).toBeLessThan(200);
  });

  it('does not let a locked job hold up the others', async () => {
    const sent = messages(20);
    await process.queue.add(sent);
    const ends: (() => void)[] = [];
    work(() => new Promise<void>((resolve) => ends.push(resolve)), 20);
    await soon(() => ends.length === 20, 'not all jobs were taken');
    await store.transaction('SELECT FROM bullmq.job WHERE id = $1 FOR UPDATE', [sent[0]?.id]);
    for (const end of ends) end();
    await soon(async () => (await left()).length === 1, 'the others were not completed');
  });

  it('leaves jobs to BullMQ and reports it when the statement fails', async () => {
    await process.queue.add(messages(30));
    const { pool } = process.connection;
    const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
    jest
      .spyOn(pool, 'query')
      .mockImplementation((...args: unknown[]) =>
        (args[0] as { name?: string }).name === 'exchange-jobs'
          ? Promise.reject(new Error('no such column'))
          : query(...args),
      );
    let done = 0;
    const errors: Error[] = [];
    work(() => Promise.resolve(done++)).on('error', (error) => errors.push(error));
    await soon(() => done === 30, 'not all jobs were run');
    expect(errors[0]?.message).toBe('no such column');
  });
});
