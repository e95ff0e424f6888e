import { setTimeout as sleep } from 'node:timers/promises';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

/** Two minutes, or ten: `SLUICE_USAGE_SECONDS=600`. */
const SECONDS = Number(process.env.SLUICE_USAGE_SECONDS ?? 120);
/** Longer than messages wait to be counted: what a stopped process stores afterwards is late. */
const STOPPED_MS = 30_000;
const QUIET_MS = 4_000;

interface Hour {
  readonly hour: string;
  readonly accepted: number;
  readonly bytes: number;
}

jest.setTimeout((SECONDS + 600) * 1_000);

let fleet: Fleet;
afterEach(() => fleet.stop());

it('Each message is counted once in its hour, whatever is killed or stopped, and nothing else is', async () => {
  fleet = await Fleet.deploy({ SIGNUP: 'open' });
  const { api } = fleet;
  const worker = await fleet.worker();
  const load = await fleet.load();
  const faults: Record<string, () => Promise<unknown>> = {
    'the API is killed': () => fleet.killAndRestart([api]),
    'the worker is killed': () => fleet.killAndRestart([worker]),
    'both are killed': () => fleet.killAndRestart([api, worker]),
    'PostgreSQL is killed': () => fleet.killAndRestart([], { database: true }),
    'everything is killed': () => fleet.killAndRestart([api, worker], { database: true }),
    'the API stops for longer than counting waits': async () => {
      api.signal('SIGSTOP');
      await sleep(STOPPED_MS);
      api.signal('SIGCONT');
      await fleet.going();
    },
  };
  const end = performance.now() + SECONDS * 1_000;
  const all = Object.entries(faults);
  for (let round = 0; performance.now() < end || round < all.length; round++) {
    await sleep(Math.random() * QUIET_MS);
    // Each at least once, then any.
    const [what, happen] = all[round < all.length ? round : Math.floor(Math.random() * all.length)] ?? ['nothing'];
    process.stdout.write(`${what} (${load.acknowledged} messages are acknowledged)\n`);
    await happen?.();
  }
  expect(await fleet.violations()).toEqual([]);

  const stored = await fleet.sql<Hour>(
    `SELECT date_trunc('hour', created_at, 'UTC')::text AS hour, count(*)::int AS accepted,
            sum(octet_length(text))::int AS bytes FROM sluice.messages GROUP BY 1 ORDER BY 1`,
  );
  const counted = () =>
    fleet.sql<Hour>(
      `SELECT start::text AS hour, accepted::int, accepted_bytes::int AS bytes FROM sluice.usage ORDER BY 1`,
    );
  const sum = (hours: readonly Hour[]) => hours.reduce((total, { accepted }) => total + accepted, 0);
  await until(
    async () => sum(await counted()) >= sum(stored),
    90_000,
    () => `${api.output}\n${worker.output}`,
  );
  await sleep(QUIET_MS);
  expect(await counted()).toEqual(stored);
  expect(sum(stored)).toBeGreaterThanOrEqual(load.acknowledged);

  const history = async () => {
    const { body } = await fleet.client.ask(fleet.account, 'GET /account/usage/history?by=hour');
    return body.data as { start: string; accepted: number; acceptedBytes: number; delivered: number }[];
  };
  const [shown] = [await history()];
  expect(shown.map(({ accepted, acceptedBytes }) => [accepted, acceptedBytes])).toEqual(
    stored.map(({ accepted, bytes }) => [accepted, bytes]),
  );
  const delivered = async () => (await history()).reduce((total, hour) => total + hour.delivered, 0);
  await until(
    async () => (await delivered()) === sum(stored),
    200_000,
    () => worker.output,
  );
});
