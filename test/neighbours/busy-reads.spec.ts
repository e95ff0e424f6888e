import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Fleet } from '../support/fleet.js';
import { SECONDS } from '../support/good-client.js';
import { ROOT } from '../support/processes.js';

interface Report {
  readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
  readonly latency: { readonly p50: number };
}

it('reads on 1,000 connections, which take longer than a key is fresh, all succeed', async () => {
  // Without backpressure.
  const fleet = await Fleet.startProcesses({ MAX_WAIT_MS: '60000' });
  try {
    const load = ['-c', '1000', '-d', String(SECONDS + 3), '-t', '30'];
    const authorization = ['-H', `authorization=Bearer ${fleet.account.key}`];
    const program = join(ROOT, 'node_modules/autocannon/autocannon.js');
    const args = [program, '--json', ...load, ...authorization, `${fleet.client.url}/account`];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { statusCodeStats, latency } = JSON.parse(stdout) as Report;
    process.stdout.write(`busy reads: ${JSON.stringify(statusCodeStats)}, p50 ${latency.p50} ms\n`);
    expect(Object.keys(statusCodeStats)).toEqual(['200']);
  } finally {
    await fleet.stop();
  }
}, 90_000);
