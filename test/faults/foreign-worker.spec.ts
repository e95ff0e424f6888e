import { Fleet } from '../support/fleet.js';
import type { Program } from '../support/processes.js';
import { until } from '../support/processes.js';

const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 1);
const KILLS = 3 * ROUNDS;
const MESSAGES = 2_000;
/** Jobs that the built-in worker runs concurrently; the bare one runs ten. */
const CONCURRENCY = 2;

let fleet: Fleet;
afterEach(() => fleet.stop());

it(
  `A bare BullMQ worker, an API and a worker, each killed ${ROUNDS} times, lose nothing and leave all statuses correct`,
  async () => {
    // A server with the usual defaults, which a bare worker relies on.
    fleet = await Fleet.deploy({
      ...{ WORKER_CONCURRENCY: String(CONCURRENCY), RECONCILE_INTERVAL_MS: '1000', HANDLER_MS: '' },
      // As long as that of the bare worker: no worker that is only slow loses a job.
      WORKER_LOCK_MS: '10000',
    });
    const worker = await fleet.worker();
    const bare: Program[] = [];
    const startBare = () => {
      const program = fleet.start('docs/workers/postgres/worker.mjs');
      bare.push(program);
      return program;
    };
    let running = startBare();
    const callers = await fleet.load({ perSecond: 1_000 });
    const acknowledged = (count: number) => until(() => callers.acknowledged > count, 120_000);
    for (let kill = 0; kill < KILLS; kill++) {
      await acknowledged((MESSAGES * (kill + 1)) / (KILLS + 2));
      if (kill % 3 === 0) {
        await running.printed(/msg_/);
        await running.kill();
        running = startBare();
      } else {
        const program = kill % 3 === 1 ? fleet.api : worker;
        await program.kill();
        await program.restart();
      }
    }
    await acknowledged(MESSAGES);
    // Jobs of a killed bare worker remain locked for ten seconds.
    expect(await fleet.violations()).toEqual([]);

    const handled = fleet.handled().map(({ id }) => id);
    const printed = bare.flatMap(({ output }) => output.match(/^msg_\w+/gm) ?? []);
    const stored = await fleet.sql<{ id: string; attempts: number }>('SELECT id, attempts FROM sluice.messages');
    process.stdout.write(
      `delivered ${stored.length}: ${printed.length} by the bare worker, ${handled.length} by ours\n`,
    );
    const delivered = new Set([...handled, ...printed]);
    expect(stored.filter(({ id }) => !delivered.has(id))).toEqual([]);
    expect(printed.length).toBeGreaterThan(0);
    // Only the jobs that a worker ran when it was killed have a second attempt.
    expect(stored.filter(({ attempts }) => attempts !== 1).length).toBeLessThanOrEqual(ROUNDS * (CONCURRENCY + 10));
    expect(await Promise.all([running, fleet.api, worker].map((program) => program.end()))).toEqual([0, 0, 0]);
  },
  240_000 + ROUNDS * 120_000,
);
