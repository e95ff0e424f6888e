import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ledger } from '../../apps/cli/verify/ledger.js';
import { Verification } from '../../apps/cli/verify/verification.js';
import { createTestDatabase } from '../support/database.js';
import { SETTINGS, TestApi } from '../support/api.js';
import { freePort, Program, until } from '../support/processes.js';

const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 1);
const MESSAGES = Number(process.env.FAULT_MESSAGES ?? 2_000);
/** Jobs that our worker has at hand; the other one has ten. */
const CONCURRENCY = 2;

describe('a bare BullMQ worker beside an API and a worker', () => {
  it(
    `while each of them is killed ${ROUNDS} times: nothing is lost or stuck, and all statuses are right`,
    async () => {
      const database = await createTestDatabase();
      const folder = await mkdtemp(join(tmpdir(), 'sluice-foreign-'));
      const port = await freePort();
      const env = {
        ...{ ...SETTINGS, DATABASE_URL: database.url, PORT: String(port), MANAGEMENT_PORT: '0', LOG_LEVEL: 'info' },
        ...{ WORKER_LOCK_MS: '1000', WORKER_CONCURRENCY: String(CONCURRENCY), RECONCILE_INTERVAL_MS: '1000' },
        HANDLED: join(folder, 'handled'),
      };
      const kinds = {
        bare: { script: 'examples/bare-worker/worker.mjs', serves: /msg_/ },
        api: { script: 'dist/apps/api/main.js', serves: /"msg":"listening"/ },
        ours: { script: 'test/support/worker-process.mjs', serves: /consuming/ },
      };
      const running = new Map<keyof typeof kinds, Program>();
      const all: Program[] = [];
      const start = (kind: keyof typeof kinds) => {
        const program = Program.run(kinds[kind].script, env);
        running.set(kind, program);
        all.push(program);
        return program;
      };
      await start('api').printed(kinds.api.serves);
      const url = `http://127.0.0.1:${port}`;
      const client = TestApi.at(url, database.url);
      const { key } = await client.signUp();

      const ledger = Ledger.create(join(folder, 'ledger'), new Date());
      const callers = new Verification({
        ...{ urls: [url], apiKey: key, callers: 32, ledger, maxMessages: 1_000_000, perSecond: 1_000 },
      });
      callers.start();
      start('bare');
      start('ours');
      const kills = ROUNDS * Object.keys(kinds).length;
      for (let kill = 0; kill < kills; kill++) {
        const kind = (['bare', 'api', 'ours'] as const)[kill % 3] ?? 'bare';
        await until(
          () => callers.acknowledged > (MESSAGES * (kill + 1)) / (kills + 2),
          120_000,
          () => all.map(({ output }) => output.slice(-500)).join('\n'),
        );
        const program = running.get(kind);
        if (kind !== 'api') await program?.printed(kinds[kind].serves);
        program?.signal('SIGKILL');
        await program?.ended();
        start(kind);
      }
      await until(() => callers.acknowledged >= MESSAGES, 120_000);
      await callers.stop(60_000);
      // What the bare worker had at hand when it was killed is locked for half a minute.
      const report = await callers.compare(60_000 + MESSAGES * 10);
      expect(report.guarantees.flatMap(({ violations }) => violations)).toEqual([]);
      const handled = (await readFile(env.HANDLED, 'utf8').catch(() => '')).match(/msg_\w+/g) ?? [];
      const printed = all.flatMap(({ output }) => output.match(/^msg_\w+/gm) ?? []);
      const delivered = new Set([...handled, ...printed]);
      const ids = ledger.all('acknowledged').map((n) => ledger.entries[n]?.id ?? '');
      expect(ids.filter((id) => !delivered.has(id))).toEqual([]);
      expect(printed.length).toBeGreaterThan(0);
      const rows = await client.sql<{ attempts: number; count: number }>(
        'SELECT attempts, count(*)::int AS count FROM sluice.messages GROUP BY attempts ORDER BY attempts',
      );
      const again = rows.filter(({ attempts }) => attempts !== 1).reduce((sum, { count }) => sum + count, 0);
      process.stdout.write(
        `acknowledged ${ids.length}; the bare worker had ${printed.length}, ours ${handled.length}; ` +
          `attempts ${JSON.stringify(rows)}\n`,
      );
      // Only what our worker had at hand when it was killed was attempted twice.
      expect(again).toBeLessThanOrEqual(ROUNDS * CONCURRENCY);
      for (const program of running.values()) program.signal('SIGTERM');
      for (const program of running.values()) expect(await program.ended()).toBe(0);
      await client.stop();
      await database.drop();
      await rm(folder, { recursive: true });
    },
    240_000 + ROUNDS * 120_000,
  );
});
