import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Load } from '../../bench/load/request.js';
import { Run } from '../../bench/load/run.js';

function answer(response: ServerResponse, status: number, connection = 'keep-alive'): void {
  response.writeHead(status, { connection, 'content-length': 2 }).end('{}');
}

describe('The load generator', () => {
  let server: Server | undefined;

  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function run(listener: RequestListener, differing: Partial<Load>) {
    const listening = createServer(listener);
    server = listening;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
    const load = { url, method: 'POST', paths: ['/messages'], keys: ['a'], body: '{"message":"hello"}' } as const;
    return new Run({
      ...{ ...load, connections: 1, rate: null, warmUpSeconds: 0, seconds: 0.5 },
      ...differing,
    }).run(() => undefined);
  }

  it('charges a server that stalls for all who came meanwhile', async () => {
    let first = true;
    const stalling: RequestListener = (_request, response) => {
      setTimeout(
        () => {
          answer(response, 202);
        },
        first ? 400 : 0,
      );
      first = false;
    };
    const { answers, latencies, lost, unsent } = await run(stalling, { rate: 100 });
    expect({ lost, unsent }).toEqual({ lost: 0, unsent: 0 });
    // One each 10 ms was due in 400 ms: the server saw only the first of them waiting.
    expect(latencies[202]?.filter((ms) => ms > 100).length).toBeGreaterThan(20);
    expect(answers[202]).toBeGreaterThanOrEqual(50);
  });

  it('counts every answer that a server has given, also those after its end', async () => {
    let given = 0;
    const { answers, lost } = await run(
      (_request, response) => {
        const status = ++given % 3 === 0 ? 503 : 202;
        setTimeout(() => {
          answer(response, status);
        }, 20);
      },
      { connections: 8 },
    );
    expect(lost).toBe(0);
    expect((answers[202] ?? 0) + (answers[503] ?? 0)).toBe(given);
  });

  it('takes keys and paths in turn, and sends a body whole', async () => {
    const seen = new Set<string>();
    await run(
      (request, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          seen.add(`${request.url ?? ''} ${request.headers.authorization ?? ''} ${body.length}`);
          answer(response, 202);
        });
      },
      { keys: ['a', 'b'], paths: ['/one'], body: JSON.stringify({ message: 'x'.repeat(200_000) }) },
    );
    expect([...seen].sort()).toEqual(['/one Bearer a 200014', '/one Bearer b 200014']);
  });

  it('counts what is never answered as lost, and goes on with a new connection', async () => {
    let count = 0;
    const { answers, lost } = await run((request, response) => {
      if (++count % 2 === 0) request.socket.destroy();
      else answer(response, 202, count % 4 === 1 ? 'close' : 'keep-alive');
    }, {});
    expect(lost).toBeGreaterThan(0);
    expect((answers[202] ?? 0) + lost).toBe(count);
  });
});
