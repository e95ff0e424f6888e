import { Deployment } from '../support/deployment.js';
import { until } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';

const rounds = new Rounds();
const FAILING = rounds.long ? 10_000 : 400;
/** A loose ceiling, for a machine that has other things to do. */
const PATIENCE_MS = 120_000 + FAILING * 60;

describe('Handlers that do badly, under load from 32 callers', () => {
  let deployment: Deployment;

  beforeAll(async () => {
    const settings = { ATTEMPT_TIMEOUT_MS: '1000', MAX_ATTEMPTS: '3', WORKER_CONCURRENCY: '20' };
    deployment = await Deployment.start({ settings });
    await deployment.load({ perSecond: 50 });
  }, 60_000);

  afterAll(async () => {
    rounds.print();
    await deployment.stop();
  }, 60_000);

  const sent = async (message: string) => {
    const response = await deployment.send(message);
    return ((await response.json()) as { id: string }).id;
  };
  const ended = async (id: string) => {
    const [row] = await deployment.database.sql<{ status: string; failure_reason: string | null }>(
      `SELECT status, failure_reason FROM sluice.messages WHERE id = $1 AND status IN ('delivered', 'failed')`,
      [id],
    );
    return row;
  };
  const delivered = async (id: string) => {
    const since = performance.now();
    await until(async () => (await ended(id))?.status === 'delivered', PATIENCE_MS);
    return Math.round(performance.now() - since);
  };

  it('that hang for ever, as many as a worker runs at once: they fail in time, and the others are delivered', async () => {
    const hanging = await Promise.all(Array.from({ length: 20 }, () => sent('hang')));
    rounds.note('a message behind twenty that hang: delivered after', await delivered(await sent('hello')));
    for (const id of hanging) {
      await until(async () => (await ended(id)) !== undefined, 120_000);
      expect(await ended(id)).toEqual({
        status: 'failed',
        failure_reason: 'The attempt took longer than 1000 ms.',
      });
    }
  }, 150_000);

  it(
    `that fail ${FAILING} messages: good ones that come later are delivered meanwhile`,
    async () => {
      for (let left = FAILING; left > 0; left -= 1_000) await deployment.sendBatch('throw', Math.min(left, 1_000));
      const ms = await delivered(await sent('hello'));
      rounds.note(`a message behind ${FAILING} that fail: delivered after`, ms);
      await deployment.going();
      await until(async () => {
        const [row] = await deployment.database.sql<{ count: number }>(
          `SELECT count(*)::int AS count FROM sluice.messages WHERE text = 'throw' AND status = 'failed' AND attempts = 3`,
        );
        return row?.count === FAILING;
      }, PATIENCE_MS);
    },
    3 * PATIENCE_MS,
  );

  it('break no promise', async () => {
    expect(await deployment.violations()).toEqual([]);
  }, 200_000);
});
