import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './processes.js';

/** What a proxy does to one request, which it forwards or not. */
export type Fault = (response: ServerResponse, forward: () => Promise<Answer>) => Promise<void> | void;

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

const answers =
  (status: number, headers: Readonly<Record<string, string | string[]>> = {}, body = ''): Fault =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };
const inSeconds = (seconds: number) => new Date(Date.now() + 1_000 * seconds).toUTCString();
const JSON_TYPE = { 'content-type': 'application/json' };
const HTML = { 'content-type': 'text/html' };

/** Faults after which a client that may repeat its request succeeds. */
export const PASSING: Readonly<Record<string, Fault>> = {
  'a page with status 502': answers(502, HTML, '<h1>Bad Gateway</h1>'),
  'an empty 503': answers(503),
  'a 503 with Retry-After in seconds': answers(503, { 'retry-after': '3' }),
  'a 503 with Retry-After as a date': (response) => answers(503, { 'retry-after': inSeconds(4) })(response, unused),
  'a 503 with Retry-After in the past': (response) => answers(503, { 'retry-after': inSeconds(-90) })(response, unused),
  'a 503 with Retry-After: 0': answers(503, { 'retry-after': '0' }),
  'a 503 with garbage in Retry-After': answers(503, { 'retry-after': 'soon, in 2099' }),
  'a 503 with a negative Retry-After': answers(503, { 'retry-after': '-5' }),
  'a 503 with a fraction in Retry-After': answers(503, { 'retry-after': '0.25' }),
  'a 503 with two Retry-After': answers(503, { 'retry-after': ['1', '1'] }),
  'a 200 with a page': answers(200, HTML, '<h1>Sign in</h1>'),
  'a 200 with null': answers(200, JSON_TYPE, 'null'),
  'a 202 with an empty object': answers(202, JSON_TYPE, '{}'),
  'a 202 with a list': answers(202, JSON_TYPE, '[]'),
  'an empty 202': answers(202),
  'a 204': answers(204),
  'a 500 with null': answers(500, JSON_TYPE, 'null'),
  'a 504 with a list': answers(504, JSON_TYPE, '[1]'),
  'a page with status 429': answers(429, HTML, '<h1>Slow down</h1>'),
  'a 429 with Retry-After in seconds': answers(429, { 'retry-after': '3' }, '{"code":"rate_limit_exceeded"}'),
  'a 408': answers(408),
  'a body that is not UTF-8': (response) => void response.writeHead(502).end(Buffer.from([0x7b, 0xff, 0x7d])),
  'no response': (response) => void response.destroy(),
  'a response that is lost': async (response, forward) => {
    await forward();
    response.destroy();
  },
  'a response that is cut': async (response, forward) => {
    const { status, headers, body } = await forward();
    response.writeHead(status, { ...headers, 'content-length': body.length + 10 }).write(body.subarray(0, 10));
    setTimeout(() => response.destroy(), 20);
  },
  'a chunked response that is cut': async (response, forward) => {
    const { status, body } = await forward();
    response.writeHead(status, { 'transfer-encoding': 'chunked' }).write(body.subarray(0, 10));
    setTimeout(() => response.destroy(), 20);
  },
  'a page that drips': (response) => {
    response.writeHead(502, HTML);
    const drip = setInterval(() => response.write('<p>'), 20);
    setTimeout(() => {
      clearInterval(drip);
      response.end();
    }, 300);
  },
  'a response that is not HTTP': (response) => void response.socket?.end('SSH-2.0-OpenSSH\r\n'),
  'a response that is late': async (response, forward) => {
    const { status, headers, body } = await forward();
    setTimeout(() => response.writeHead(status, headers).end(body), 200);
  },
};

/** Responses that are not from the service and that no repetition changes. */
export const FINAL: Readonly<Record<string, Fault>> = {
  'a redirect with 301': answers(301, { location: '/elsewhere/messages' }),
  'a redirect with 302': answers(302, { location: '/elsewhere/messages' }),
  'a redirect with 307': answers(307, { location: '/elsewhere/messages' }),
  'a redirect with 308': answers(308, { location: '/elsewhere/messages' }),
  'a page with status 403': answers(403, HTML, '<h1>Forbidden</h1>'),
  'an empty 404': answers(404),
  'a problem of another API': answers(400, JSON_TYPE, '{"error":"no"}'),
};

function unused(): Promise<Answer> {
  throw new Error('It is not forwarded.');
}

/** A proxy that does to requests what it is told, then forwards them. Each case has a URL of its own. */
export class HostileProxy {
  /** The faults of the next requests of each case. */
  private readonly faults = new Map<string, Fault[]>();
  private readonly server: Server;
  private url = '';

  constructor(private readonly target: string) {
    this.server = createServer((incoming, outgoing) => {
      this.carry(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  async start(): Promise<void> {
    this.url = await listen(this.server);
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** The base URL of a case, whose first requests meet these faults. */
  with(...faults: Fault[]): string {
    const name = `case-${this.faults.size}`;
    this.faults.set(name, faults);
    return `${this.url}/${name}`;
  }

  private async carry(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const [, name = '', path = '/'] = /^\/([\w-]+)(\/.*)$/.exec(incoming.url ?? '') ?? [];
    const { method, headers } = incoming;
    const open = async () => {
      const upstream = request(new URL(path, this.target), { method, headers, agent: false });
      upstream.end(body);
      outgoing.on('close', () => upstream.destroy());
      const [response] = (await once(upstream, 'response')) as [IncomingMessage];
      return response;
    };
    const fault = this.faults.get(name)?.shift();
    if (fault === undefined) {
      const response = await open();
      outgoing.writeHead(response.statusCode ?? 0, response.headers);
      response.pipe(outgoing);
      return;
    }
    await fault(outgoing, async () => {
      const response = await open();
      return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
    });
  }
}
