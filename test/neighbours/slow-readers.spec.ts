import { Fleet } from '../support/fleet.js';
import { goodClient } from '../support/good-client.js';
import { lines } from '../support/http.js';
import { residentBytes } from '../support/processes.js';

const CONNECTIONS = 60;
/** On each connection; together more than the operating system buffers. */
const REQUESTS = 8;

it('clients that do not read their lists keep MAX_BUFFERED_MB in memory at most, and take nothing from others', async () => {
  const fleet = await Fleet.startProcesses({ MAX_BUFFERED_MB: '16', MAX_WAIT_MS: '60000' });
  try {
    const { url } = fleet.client;
    const { key } = fleet.account;
    const readers = await Promise.all([1, 2, 3, 4].map(() => fleet.client.signUp()));
    for (const account of readers) {
      for (let count = 0; count < 5; count++) await fleet.client.sent(account, { message: 'x'.repeat(200_000) });
    }
    await goodClient(url, key, {}, 1);
    const alone = await goodClient(url, key);
    const idle = residentBytes(fleet.api.pid);
    const heads = Array.from({ length: CONNECTIONS }, (_, n) =>
      lines('GET /messages HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${readers[n % 4]?.key}`).repeat(REQUESTS),
    );
    const settings = { URL: url, HEADS: JSON.stringify(heads), READS: '0', EVERY_MS: '50' };
    const clients = fleet.start('test/support/stalling-clients.mjs', settings);
    const [good] = await Promise.all([goodClient(url, key), clients.ready()]);
    const grown = Math.round((residentBytes(fleet.api.pid) - idle) / 1_048_576);
    const p99 = `${alone.p99.toFixed()} and ${good.p99.toFixed()} ms`;
    process.stdout.write(`slow readers: ${grown} MiB more, p99 without and with them ${p99}\n`);

    expect(Object.keys(good.statuses)).toEqual(['202']);
    // All responses together have 480 MiB.
    expect(grown).toBeLessThan(350);
  } finally {
    await fleet.stop();
  }
});
