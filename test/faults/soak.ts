import { setTimeout as sleep } from 'node:timers/promises';
import { Fleet } from '../support/fleet.js';
import { residentBytes, until } from '../support/processes.js';

const MEBIBYTE = 1_048_576;
const MINUTES = Number(process.env.SOAK_MINUTES);
const MEASURING_MS = 10_000;

const COUNTS = `
  SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE application_name LIKE 'sluice-%') AS connections,
         (SELECT count(*)::int FROM bullmq.job) AS jobs,
         (SELECT count(*)::int FROM bullmq.event) AS events,
         (SELECT count(*)::int FROM sluice.outbox) AS outbox,
         (SELECT count(*)::int FROM sluice.rate_limits) AS windows,
         (SELECT count(*)::int FROM sluice.messages) AS messages,
         (SELECT count(*)::int FROM sluice.idempotency_keys WHERE created_at < now() - interval '1 day') AS old_keys`;

describe(`${MINUTES} minutes at half of full load from 32 clients`, () => {
  it(
    'do not increase memory, connections or temporary rows without bound',
    async () => {
      const fleet = await Fleet.deploy({ HANDLER_MS: '' });
      const worker = await fleet.worker();
      const sample = async () => {
        const [counts] =
          await fleet.sql<Record<'connections' | 'jobs' | 'events' | 'windows' | 'old_keys', number>>(COUNTS);
        if (counts === undefined) throw new Error('There are no counts.');
        const memory = { api: residentBytes(fleet.api.pid), worker: residentBytes(worker.pid) };
        const mebibytes = Object.entries(memory).map(([name, bytes]) => `${name} ${Math.round(bytes / MEBIBYTE)} MiB`);
        process.stdout.write(`${mebibytes.join(', ')}, ${JSON.stringify(counts)}\n`);
        return { ...counts, ...memory };
      };

      const full = await fleet.load({ perSecond: 100_000 });
      const before = full.acknowledged;
      await sleep(MEASURING_MS);
      const perSecond = Math.round(((full.acknowledged - before) / MEASURING_MS) * 500);
      await full.stop(60_000);
      process.stdout.write(`half of full load: ${perSecond} messages a second\n`);

      // To be removed during the load.
      await fleet.sql(
        `INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, created_at)
         SELECT 'acct', n::text, sha256('x'), 'msg', now() - interval '25 hours' FROM generate_series(1, 25000) AS n`,
      );
      await fleet.load({ perSecond });
      const samples = [];
      for (let left = MINUTES * 6; left > 0; left--) {
        await sleep(10_000);
        samples.push(await sample());
      }
      expect(await fleet.violations()).toEqual([]);
      await until(async () => (await sample()).jobs === 0);

      const middle = samples[samples.length >> 1];
      const last = samples.at(-1);
      if (middle === undefined || last === undefined) throw new Error('Nothing was measured.');
      expect(last.api).toBeLessThan(middle.api * 1.3 + 64 * MEBIBYTE);
      expect(last.worker).toBeLessThan(middle.worker * 1.3 + 64 * MEBIBYTE);
      // Two processes, each with three pools of at most five, and listeners.
      expect(Math.max(...samples.map(({ connections }) => connections))).toBeLessThan(40);
      expect(last.events).toBeLessThan(100_000);
      expect(last.windows).toBe(1);
      expect(last.old_keys).toBe(0);
      await fleet.stop();
    },
    (MINUTES + 10) * 60_000,
  );
});
