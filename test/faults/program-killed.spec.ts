import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatReport, notKept } from '../../apps/cli/verify/report.js';
import { startClients } from '../support/fleet.js';
import { freePort, isAlive, killAll, Program, ROOT, until } from '../support/processes.js';

const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 1);

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Changes the limits of an account as an operator would. */
async function liftLimits(url: string, apiKey: string, operatorsKey: string): Promise<void> {
  const account = await fetch(`${url}/account`, { headers: { authorization: `Bearer ${apiKey}` } });
  const { id } = (await account.json()) as { id: string };
  const limits = { perMinute: 1_000_000, perDay: 100_000_000 };
  await fetch(`${url}/admin/accounts/${id}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${operatorsKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ plan: 'enterprise', limits }),
  });
}

it(
  `npm start, killed ${ROUNDS} times under load, delivers everything that it acknowledged`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-program-'));
    const env = { DATA_DIR: join(folder, 'data'), PORT: String(await freePort()), HOST: '127.0.0.1' };
    const url = `http://127.0.0.1:${env.PORT}`;
    const keyIn = async (file: string) => (await readFile(join(env.DATA_DIR, file), 'utf8')).trim();
    const start = async () => {
      const started = Program.run('dist/apps/dev/main.js', { ...env, WORKER_LOCK_MS: '1000' });
      stops.push(() => started.kill());
      await started.printed(/Ctrl-C/);
      return started;
    };

    let program = await start();
    const apiKey = await keyIn('dev-key');
    await liftLimits(url, apiKey, await keyIn('admin-api-key'));
    const callers = startClients([url], apiKey, join(folder, 'ledger'), 200);
    stops.push(() => callers.stop(0));
    for (let round = 1; round <= ROUNDS; round++) {
      const before = callers.acknowledged;
      await until(
        () => callers.acknowledged > before + 50,
        60_000,
        () => program.output,
      );
      await sleep(500 * Math.random());
      const family = program.family();
      killAll(family);
      await until(() => !family.some(isAlive));
      program = await start();
    }
    await callers.stop(60_000);
    const report = await callers.compare(60_000 + ROUNDS * 10_000);
    process.stdout.write(`${formatReport(report)}\n`);
    expect(notKept(report)).toEqual([]);
    const options = { cwd: ROOT, env: { ...process.env, ...env } };
    expect(execFileSync(process.execPath, ['dist/apps/cli/main.js', 'census'], options).toString()).toContain(
      '0 messages',
    );

    const family = program.family();
    program.signal('SIGINT');
    expect(await program.ended()).toBe(0);
    await until(() => !family.some(isAlive));
    await rm(folder, { recursive: true });
  },
  180_000 + ROUNDS * 60_000,
);
