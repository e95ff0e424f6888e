import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './processes.js';

type Fault = 'delay' | 'cut' | 'lose' | 'truncate' | 'duplicate' | 'hang' | 'unavailable' | 'page' | 'refuse';

/** How many of `CYCLE` requests each fault hits. */
type FaultPlan = Readonly<Record<Fault, number>>;

const CYCLE = 250;
/** Has no factor in common with the cycle: spreads the faults over it. */
const STRIDE = 89;

/** An HTTP proxy that does to some requests what networks, proxies and overloaded servers do. */
export class FaultyProxy {
  url = '';
  /** How often each fault has occurred. */
  readonly faults = new Map<Fault, number>();
  private readonly agent = new Agent({ keepAlive: true });
  private readonly server = createServer((incoming, outgoing) => {
    this.carry(incoming, outgoing).catch(() => outgoing.destroy());
  });
  /** The fault of each request, the same in each run. */
  private readonly cycle: Fault[] = [];
  private count = 0;

  private constructor(
    private readonly target: string,
    plan: FaultPlan,
  ) {
    const faults = Object.entries(plan).flatMap(([fault, times]) => Array<Fault>(times).fill(fault as Fault));
    for (const [index, fault] of faults.entries()) this.cycle[(index * STRIDE) % CYCLE] = fault;
  }

  static async start(target: string, plan: FaultPlan): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target, plan);
    proxy.url = await listen(proxy.server);
    return proxy;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
    this.agent.destroy();
  }

  private async carry(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const fault = this.cycle[this.count++ % CYCLE];
    if (fault !== undefined) this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
    if (fault === 'cut') {
      outgoing.destroy();
    } else if (fault === 'unavailable') {
      outgoing.writeHead(503, { 'retry-after': '0' }).end('{"code":"unavailable","detail":"Later."}');
    } else if (fault === 'page') {
      outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');
    } else if (fault === 'refuse') {
      outgoing.writeHead(429, { 'retry-after': '1' }).end('{"code":"rate_limit_exceeded","detail":"Later."}');
    } else {
      if (fault === 'delay') await new Promise((resolve) => setTimeout(resolve, 50));
      const forwarded = this.forward(incoming, body);
      const [response] = await Promise.all([
        forwarded,
        ...(fault === 'duplicate' ? [this.forward(incoming, body)] : []),
      ]);
      if (fault === 'hang') return;
      if (fault === 'lose') {
        outgoing.destroy();
      } else if (fault === 'truncate') {
        outgoing.writeHead(response.status, response.headers).write(response.body.subarray(0, 10));
        setTimeout(() => outgoing.destroy(), 5);
      } else {
        outgoing.writeHead(response.status, response.headers).end(response.body);
      }
    }
  }

  private async forward(incoming: IncomingMessage, body: Buffer) {
    const { method, url, headers } = incoming;
    const upstream = request(new URL(url ?? '', this.target), { method, headers, agent: this.agent });
    upstream.end(body);
    const [response] = (await once(upstream, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
  }
}
