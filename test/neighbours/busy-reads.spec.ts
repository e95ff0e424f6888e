import { autocannon } from '../support/autocannon.js';
import { Fleet } from '../support/fleet.js';
import { SECONDS } from '../support/good-client.js';

it('reads on 1,000 connections, which take longer than a key is fresh, succeed', async () => {
  // Without backpressure.
  const fleet = await Fleet.startProcesses({ MAX_WAIT_MS: '60000' });
  try {
    const { client, account } = fleet;
    // A read that takes no turns, which would refuse some.
    const report = await autocannon(`${client.url}/api-keys/current`, account.key, '-c', 1_000, '-d', SECONDS + 3);
    const { statusCodeStats, latency } = report;
    process.stdout.write(`busy reads: ${JSON.stringify(statusCodeStats)}, p50 ${latency.p50} ms\n`);
    const { 503: late, ...others } = statusCodeStats;
    expect(Object.keys(others)).toEqual(['200']);
    // On a busy machine, a key may not be verified again soon enough.
    expect(late?.count ?? 0).toBeLessThan(others[200]?.count ?? 0);
  } finally {
    await fleet.stop();
  }
});
