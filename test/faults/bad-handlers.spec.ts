import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';
import { Rounds } from '../support/rounds.js';

const rounds = new Rounds();
const FAILING = rounds.long ? 10_000 : 200;
/** A loose ceiling, for a busy machine. */
const PATIENCE_MS = 120_000 + FAILING * 60;
jest.setTimeout(3 * PATIENCE_MS);

describe('Under load from 32 clients, a message is delivered', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    const settings = { ATTEMPT_TIMEOUT_MS: '1000', MAX_ATTEMPTS: '3', WORKER_CONCURRENCY: '20' };
    fleet = await Fleet.startForLoad(settings);
    await fleet.worker();
    await fleet.load({ perSecond: 50 });
  });

  afterAll(async () => {
    rounds.print();
    await fleet.stop();
  });

  const sendAndMeasure = async (behind: string) => {
    const id = await fleet.send('hello');
    const since = performance.now();
    await until(fleet.has(id, 'delivered'), PATIENCE_MS);
    rounds.note(`a message behind ${behind}: delivered after`, Math.round(performance.now() - since));
  };

  it('although as many handlers hang as a worker runs concurrently; those attempts time out', async () => {
    const hanging = await Promise.all(Array.from({ length: 20 }, () => fleet.send('hang')));
    await sendAndMeasure('twenty that hang');
    const failed = `
      SELECT FROM sluice.messages
      WHERE text = 'hang' AND status = 'failed' AND failure_reason = 'The attempt took longer than 1000 ms.'`;
    await until(async () => (await fleet.sql(failed)).length === hanging.length, 120_000);
  });

  it(`although ${FAILING} earlier messages fail, each after three attempts`, async () => {
    for (let left = FAILING; left > 0; left -= 1_000) {
      const messages = Array.from({ length: Math.min(left, 1_000) }, () => 'throw');
      expect((await fleet.client.sendBatch(fleet.account, { messages })).status).toBe(202);
    }
    await sendAndMeasure(`${FAILING} that fail`);
    await fleet.going();
    await until(async () => {
      const failed = `SELECT FROM sluice.messages WHERE text = 'throw' AND status = 'failed' AND attempts = 3`;
      return (await fleet.sql(failed)).length === FAILING;
    }, PATIENCE_MS);
  });

  it('and no guarantee is broken', async () => {
    expect(await fleet.violations()).toEqual([]);
  });
});
