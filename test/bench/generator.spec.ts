import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Load } from '../../bench/load/request.js';
import { LoadGenerator } from '../../bench/load/load-generator.js';
import { listen } from '../support/processes.js';

function respond(response: ServerResponse, status: number, connection = 'keep-alive'): void {
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
    const url = await listen(listening);
    const load = { url, method: 'POST', paths: ['/messages'], keys: ['a'], body: '{"message":"hello"}' } as const;
    return new LoadGenerator({
      ...{ ...load, connections: 1, rate: null, warmUpSeconds: 0, seconds: 0.5 },
      ...differing,
    }).run(() => undefined);
  }

  it('includes the time a request waits for a stalled server', async () => {
    let first = true;
    const stalling: RequestListener = (_request, response) => {
      setTimeout(
        () => {
          respond(response, 202);
        },
        first ? 400 : 0,
      );
      first = false;
    };
    const { responses, latencies, lost, unsent } = await run(stalling, { rate: 100 });
    expect({ lost, unsent }).toEqual({ lost: 0, unsent: 0 });
    // In 400 ms, 40 requests were due; the server saw only the first.
    expect(latencies[202]?.filter((ms) => ms > 100).length).toBeGreaterThan(20);
    expect(responses[202]).toBeGreaterThanOrEqual(50);
  });

  it('counts requests without a response as lost and reconnects', async () => {
    let count = 0;
    const { responses, lost } = await run((request, response) => {
      if (++count % 2 === 0) request.socket.destroy();
      else respond(response, 202, count % 4 === 1 ? 'close' : 'keep-alive');
    }, {});
    expect(lost).toBeGreaterThan(0);
    expect((responses[202] ?? 0) + lost).toBe(count);
  });
});
