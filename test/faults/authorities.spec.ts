import { spawn } from 'node:child_process';
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { AddressInfo } from 'node:net';
import { Authority, NO_OPENSSL } from '../support/certificates.js';
import { ROOT } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';

/** Connects in each way to the port of its argument, once for each line that it reads. */
const SCRIPT = `
  import { connect } from 'node:tls';
  import { createInterface } from 'node:readline';
  import { OutgoingConnections } from './dist/libs/platform/outgoing/connections.js';
  import { renewedTlsOptions, tlsOptions } from './dist/libs/platform/process/tls-files.js';
  const port = Number(process.argv[1]);
  const outgoing = new OutgoingConnections({ isAllowed: () => true, keptBytes: 0 });
  const post = (origin) =>
    outgoing.post(origin, { path: '/', headers: { connection: 'close' }, body: '' }, AbortSignal.timeout(30_000));
  const renewed = renewedTlsOptions({ verification: 'name' }, 'REDIS_URL');
  const open = (options) => new Promise((resolve, reject) => {
    const socket = connect({ host: 'localhost', port, ...options }, () => { socket.destroy(); resolve(); });
    socket.on('error', reject);
  });
  const ways = [
    () => post('https://localhost:' + port),
    () => open(tlsOptions({ verification: 'name' }, 'DATABASE_URL')),
    () => open(renewed),
  ];
  for await (const line of createInterface(process.stdin)) {
    const results = await Promise.all(ways.map((way) => way().then(() => 'trusted', () => 'refused')));
    console.log([...new Set(results)].join());
  }`;

describeUnless(NO_OPENSSL)('A process with NODE_EXTRA_CA_CERTS', () => {
  const own = new Authority();
  const other = new Authority();
  const file = join(own.folder, 'extra.pem');
  const { cert, key } = own.issue('DNS:localhost');
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (_request, response) => {
    response.end();
  });

  beforeAll(async () => {
    copyFileSync(other.certificate, file);
    await once(server.listen(0, 'localhost'), 'listening');
  });
  afterAll(() => {
    server.close();
    for (const { folder } of [own, other]) rmSync(folder, { recursive: true });
  });

  const replace = (text: string) => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const text = ({ certificate }: Authority) => readFileSync(certificate, 'utf8');

  it('trusts for each connection whom the file contains by then', async () => {
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', SCRIPT, String((server.address() as AddressInfo).port)],
      { cwd: ROOT, env: { ...process.env, NODE_EXTRA_CA_CERTS: file }, stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const results: [string, string][] = [];
    for (const [what, content] of [
      ['another authority', text(other)],
      ['the right one', text(own)],
      ['the same', text(own)],
      ['nothing', ''],
      ['a half', text(other).slice(0, 200)],
      ['no file', null],
      ['several', text(other) + text(own)],
      ['another one again', text(other)],
    ] as const) {
      if (content === null) rmSync(file);
      else replace(content);
      child.stdin.write('\n');
      results.push([what, String((await lines.next()).value)]);
    }
    child.stdin.end();
    expect(results).toEqual([
      ['another authority', 'refused'],
      ['the right one', 'trusted'],
      ['the same', 'trusted'],
      ['nothing', 'trusted'],
      ['a half', 'trusted'],
      ['no file', 'trusted'],
      ['several', 'trusted'],
      ['another one again', 'refused'],
    ]);
  });
});
