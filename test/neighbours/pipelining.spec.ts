import { goodClient, type Experience } from '../support/good-client.js';
import { Fleet } from '../support/fleet.js';
import { lines } from '../support/http.js';
import { Program, residentBytes } from '../support/processes.js';

/** Garbage of short bursts included, which V8 collects late. */
const MAX_GROWTH_BYTES = 256 * 1_048_576;

describe('Connections that pipeline requests without waiting for responses', () => {
  let fleet: Fleet;
  let alone: Experience;
  let idleBytes: number;
  beforeAll(async () => {
    fleet = await Fleet.startProcesses();
    alone = await goodClient(fleet.client.url, fleet.account.key);
    idleBytes = memory();
  }, 300_000);
  afterAll(() => fleet.stop());

  const memory = () => residentBytes(fleet.apis[0]?.pid ?? 0);

  it.each([
    [1, 'GET /messages'],
    [200, 'GET /messages'],
    [200, 'GET /openapi.json'],
    [200, 'GET /%zz'],
    [800, 'GET /messages'],
  ])(
    'cost others neither requests nor time nor memory: %i of %s',
    async (count, target) => {
      const REQUEST = lines(`${target} HTTP/1.1`, 'Host: sluice');
      const env = { URL: fleet.client.url, CONNECTIONS: String(count), REQUEST };
      const attacker = Program.run('test/support/pipeliner.mjs', env);
      const good = await goodClient(fleet.client.url, fleet.account.key);
      const bytes = memory();
      attacker.signal('SIGKILL');
      const mib = [idleBytes, bytes].map((value) => Math.round(value / 1_048_576)).join(' to ');
      process.stdout.write(`${count} × ${target}: memory ${mib} MiB, ${JSON.stringify({ alone, good })}\n`);

      expect(Object.keys(good.statuses)).toEqual(['202']);
      expect(bytes - idleBytes).toBeLessThan(MAX_GROWTH_BYTES);
    },
    120_000,
  );
});
