import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { requireDirectConnection } from '#platform/database/direct-connection.js';
import { UsageError } from '#platform/usage-error.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { Program } from '../../support/processes.js';

/** Stands between a process and PostgreSQL, and changes what is said like a proxy that pools. */
class Proxy {
  private readonly sockets: Socket[] = [];
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param change of the same length */
  static async open(databaseUrl: string, change: (said: string) => string, answer?: Buffer): Promise<Proxy> {
    const { hostname, port } = new URL(databaseUrl);
    const sockets: Socket[] = [];
    const server = createServer((near) => {
      sockets.push(near);
      near.on('error', () => undefined);
      if (answer !== undefined) {
        near.once('data', () => near.end(answer));
        return;
      }
      const far = connect(Number(port), hostname);
      sockets.push(far);
      far.on('error', () => undefined);
      near.on('data', (chunk) => far.write(Buffer.from(change(chunk.toString('latin1')), 'latin1')));
      near.on('close', () => far.destroy());
      far.pipe(near);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const proxy = new Proxy(server, url.href);
    proxy.sockets.push(...sockets);
    return proxy;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const OPTION = '-c synchronous_commit=off';

/** As PostgreSQL writes an error: severity, code and message. */
function errorResponse(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

describe('A connection to the database', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database.drop());

  async function through(change: (said: string) => string, answer?: Buffer): Promise<unknown> {
    const proxy = await Proxy.open(database.url, change, answer);
    try {
      return await requireDirectConnection(proxy.url).then(
        () => null,
        (error: unknown) => error,
      );
    } finally {
      await proxy.close();
    }
  }

  it('may be direct, or lead through what changes nothing', async () => {
    await requireDirectConnection(database.url);
    expect(await through((said) => said)).toBeNull();
  });

  it.each([
    ['drops its options', (said: string) => said.replace(OPTION, ' '.repeat(OPTION.length)), undefined],
    [
      'refuses its options',
      (said: string) => said,
      errorResponse('unsupported startup parameter in options: synchronous_commit'),
    ],
    ['does not let it listen', (said: string) => said.replace('LISTEN ', '--LSTN '), undefined],
  ])('must lead through no proxy that %s', async (_what, change, answer) => {
    const error = await through(change, answer);
    expect(error).toBeInstanceOf(UsageError);
    expect(String(error)).toMatch(
      /^UsageError: DATABASE_URL leads to a proxy that .*: connect to PostgreSQL directly\.$/,
    );
  });

  it('of which that is true keeps a process from starting, with one sentence', async () => {
    const proxy = await Proxy.open(database.url, (said) => said.replace('LISTEN ', '--LSTN '));
    const api = Program.run('dist/apps/api/main.js', {
      DATABASE_URL: proxy.url,
      API_KEY_PEPPER: 'p'.repeat(32),
      PORT: '0',
    });
    expect(await api.ended()).toBe(1);
    expect(api.output).toMatch(/^api: DATABASE_URL leads to a proxy [^\n]*\n$/);
    await proxy.close();
  }, 30_000);
});
