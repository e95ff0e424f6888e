import { Deployment } from '../support/deployment.js';
import { until } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';

const rounds = new Rounds();
const FAILING = rounds.long ? 10_000 : 400;
/** A loose ceiling, for a busy machine. */
const PATIENCE_MS = 120_000 + FAILING * 60;
jest.setTimeout(3 * PATIENCE_MS);

describe('Under load from 32 clients, a message is delivered', () => {
  let deployment: Deployment;

  beforeAll(async () => {
    const settings = { ATTEMPT_TIMEOUT_MS: '1000', MAX_ATTEMPTS: '3', WORKER_CONCURRENCY: '20' };
    deployment = await Deployment.start({ settings });
    await deployment.load({ perSecond: 50 });
  });

  afterAll(async () => {
    rounds.print();
    await deployment.stop();
  });

  const sendAndMeasure = async (behind: string) => {
    const id = await deployment.sent('hello');
    const since = performance.now();
    await until(async () => (await deployment.stored(id))?.status === 'delivered', PATIENCE_MS);
    rounds.note(`a message behind ${behind}: delivered after`, Math.round(performance.now() - since));
  };

  it('although as many handlers hang as a worker runs concurrently; those attempts time out', async () => {
    const hanging = await Promise.all(Array.from({ length: 20 }, () => deployment.sent('hang')));
    await sendAndMeasure('twenty that hang');
    for (const id of hanging) {
      await until(async () => (await deployment.stored(id))?.status === 'failed', 120_000);
      expect(await deployment.stored(id)).toMatchObject({ failure_reason: 'The attempt took longer than 1000 ms.' });
    }
  });

  it(`although ${FAILING} earlier messages fail, each after three attempts`, async () => {
    for (let left = FAILING; left > 0; left -= 1_000) {
      const messages = Array.from({ length: Math.min(left, 1_000) }, () => ({ message: 'throw' }));
      expect((await deployment.request('POST /messages/batch', { messages })).status).toBe(202);
    }
    await sendAndMeasure(`${FAILING} that fail`);
    await deployment.going();
    await until(async () => {
      const failed = `SELECT FROM sluice.messages WHERE text = 'throw' AND status = 'failed' AND attempts = 3`;
      return (await deployment.database.sql(failed)).length === FAILING;
    }, PATIENCE_MS);
  });

  it('and no guarantee is broken', async () => {
    expect(await deployment.violations()).toEqual([]);
  });
});
