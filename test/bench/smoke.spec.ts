import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRival } from '../../bench/targets/rival.js';
import { readCall, SCENARIOS } from '../../bench/options.js';
import type { Report } from '../../bench/report/report.js';
import { freePort } from '../../apps/dev/port.js';
import { Program } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';

// Less than half of it is enough beside two other test workers on two slow cores.
const DEADLINE = 900_000;

const missing = process.platform === 'linux' ? null : 'the benchmark runs on Linux only.';

describeUnless(missing)('The benchmark', () => {
  let folder: string;
  let receiverPort = 0;
  /** Accepts messages, and posts each to the receiver. */
  const rival = createServer((request, response) => {
    const { authorization } = request.headers;
    const isRight = request.url === '/send?to=all' && authorization === 'Bearer secret';
    response.writeHead(isRight ? 201 : 400).end();
    void fetch(`http://127.0.0.1:${receiverPort}/`, { method: 'POST', headers: { 'x-id': randomUUID() } });
  });
  let ended: { readonly code: unknown; readonly output: string };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-bench-results-'));
    rival.listen(0, '127.0.0.1');
    await once(rival, 'listening');
    const { port } = rival.address() as AddressInfo;
    const file = join(folder, 'rival.json');
    const processes = { server: process.pid };
    const described = {
      name: 'a rival',
      url: `http://127.0.0.1:${port}/send?to=all`,
      key: 'secret',
      body: { text: 'x' },
    };
    await writeFile(file, JSON.stringify({ ...described, status: 201, idHeader: 'X-Id', processes }));
    receiverPort = await freePort();
    const args = ['--smoke', '--out', folder, '--rival', file, '--receiver-port', String(receiverPort)];
    const bench = Program.run('bench/run.mjs', {}, process.execPath, args);
    ended = { code: await bench.ended(DEADLINE), output: bench.output };
  }, DEADLINE);

  afterAll(async () => {
    rival.close();
    await rm(folder, { recursive: true });
  });

  it('finds that all counts agree', () => {
    // On failure, show the output.
    expect(ended.code === 0 ? '' : ended.output).toBe('');
  });

  it.each(SCENARIOS)('reports every measurement: %s', async (scenario) => {
    const report = JSON.parse(await readFile(join(folder, `${scenario}.json`), 'utf8')) as Report;
    expect(report).toMatchObject({
      scenario,
      machine: { postgresql: expect.stringContaining('PostgreSQL') as string },
    });
    expect(report.checks.filter(({ holds }) => !holds)).toEqual([]);
    expect(report.checks).not.toEqual([]);
    for (const { columns, rows } of report.tables) {
      expect(rows).not.toEqual([]);
      expect(rows.filter((row) => row.length !== columns.length)).toEqual([]);
    }
    const text = await readFile(join(folder, `${scenario}.md`), 'utf8');
    expect(text).toContain('checks of accepted against stored messages agree');
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('compares Sluice with a rival', async () => {
    const text = await readFile(join(folder, 'rivals.md'), 'utf8');
    expect(text).toMatch(/^Sluice delivers .+ of the messages a second of a rival, at .+ of its CPU/m);
  });
});

it('The benchmark rejects an unknown scenario', () => {
  expect(() => readCall(['acept'])).toThrow(/^Unknown scenario "acept"\. Scenarios: accept, .+\.$/);
});

it.each([
  ['no JSON', '{'],
  ['no URL', '{"name":"a","body":{}}'],
  ['no name', '{"url":"http://127.0.0.1:1/","body":{}}'],
  ['no body', '{"name":"a","url":"http://127.0.0.1:1/"}'],
  ['a process that is no id', '{"name":"a","url":"http://127.0.0.1:1/","body":{},"processes":{"api":"x"}}'],
])('The benchmark rejects a rival with %s', async (_what, text) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-rival-'));
  const file = join(folder, 'rival.json');
  await writeFile(file, text);
  expect(() => readRival(file)).toThrow(/rival\.json does not describe a rival: .+\.$/);
  await rm(folder, { recursive: true });
});
