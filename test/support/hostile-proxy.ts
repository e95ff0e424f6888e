import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Transform, Writable } from 'node:stream';
import { createDeflate, createGzip, gzipSync } from 'node:zlib';
import { listen } from './processes.js';

/** What a proxy does to one request, which it forwards or not. */
export type Fault = (response: ServerResponse, forward: () => Promise<Answer>) => Promise<void> | void;

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

const answers =
  (status: number, headers: Readonly<Record<string, string | string[]>> = {}, body: string | Buffer = ''): Fault =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };
const inSeconds = (seconds: number) => new Date(Date.now() + 1_000 * seconds).toUTCString();
const raw =
  (...parts: (string | Buffer)[]): Fault =>
  (response) => {
    for (const part of parts) response.socket?.write(part);
    response.socket?.end();
  };
/** In the two forms of dates that RFC 9110 calls obsolete, and that recipients must accept. */
const rfc850 = (seconds: number) => {
  const [day = '', month = '', year = ''] = inSeconds(seconds).split(/,? /).slice(1, 4);
  const at = new Date(Date.now() + 1_000 * seconds);
  const weekday = at.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
  return `${weekday}, ${day}-${month}-${year.slice(2)} ${at.toISOString().slice(11, 19)} GMT`;
};
const asctime = (seconds: number) => {
  const [weekday = '', day = '', month = '', year = '', time = ''] = inSeconds(seconds).split(/,? /);
  return `${weekday} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`;
};
const drip = (response: ServerResponse, parts: () => string) => {
  const timer = setInterval(() => response.socket?.write(parts()), 20);
  response.once('close', () => {
    clearInterval(timer);
  });
};
/** The response, with other limits of a gateway. */
const limits =
  (reset: string): Fault =>
  async (response, forward) => {
    const { status, headers, body } = await forward();
    const fields = { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
    response.writeHead(status, { ...headers, ...fields, ratelimit: `"minute";r=0;t=${reset}` }).end(body);
  };
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
  'a 503 with Retry-After as a date of RFC 850': (response) =>
    answers(503, { 'retry-after': rfc850(4) })(response, unused),
  'a 503 with Retry-After as a date of asctime': (response) =>
    answers(503, { 'retry-after': asctime(4) })(response, unused),
  'a 503 with Infinity in Retry-After': answers(503, { 'retry-after': 'Infinity' }),
  'a 503 with 1e3 in Retry-After': answers(503, { 'retry-after': '1e3' }),
  'a 503 with 0x10 in Retry-After': answers(503, { 'retry-after': '0x10' }),
  'informational responses before a 503': raw(
    'HTTP/1.1 100 Continue\r\n\r\n',
    ...Array<string>(20).fill('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
    'HTTP/1.1 503 Unavailable\r\ncontent-length: 0\r\n\r\n',
  ),
  'a 101': raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n'),
  'a 503 of HTTP/1.0': raw('HTTP/1.0 503 Unavailable\r\n\r\n<p>Come back</p>'),
  'a 502 that is longer than its length': raw('HTTP/1.1 502 Bad\r\ncontent-length: 3\r\n\r\n<p>Come back</p>'),
  'a length that is none': raw('HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n{}'),
  'two lengths': raw('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'),
  'chunks that are none': raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n'),
  'half a status line': raw('HTTP/1.1 20'),
  'a header that is too long': raw(`HTTP/1.1 502 Bad\r\nx: ${'x'.repeat(300_000)}\r\n\r\n`),
  'a thousand headers': raw(`HTTP/1.1 502 Bad\r\n${'x: y\r\n'.repeat(1_000)}content-length: 0\r\n\r\n`),
  'a header with controls': raw('HTTP/1.1 502 Bad\r\nx: \0\u0001\r\ncontent-length: 0\r\n\r\n'),
  'a header that is not ASCII': raw(
    Buffer.from('HTTP/1.1 502 B\xe4d\r\nx: \xff\r\ncontent-length: 0\r\n\r\n', 'latin1'),
  ),
  'a page that is compressed': answers(502, { ...HTML, 'content-encoding': 'gzip' }, gzipSync('<h1>Bad Gateway</h1>')),
  'a page that is not compressed but says so': answers(502, { ...HTML, 'content-encoding': 'gzip' }, '<h1>Bad</h1>'),
  'a compressed response that is cut': answers(
    502,
    { ...HTML, 'content-encoding': 'gzip' },
    gzipSync('<h1>Bad Gateway</h1>').subarray(0, 20),
  ),
  'an encoding that does not exist': answers(502, { ...HTML, 'content-encoding': 'sluice' }, '<h1>Bad</h1>'),
  'JSON that is nested deeply': answers(502, JSON_TYPE, '['.repeat(200_000)),
  'a 202 with JSON that is nested deeply': answers(202, JSON_TYPE, '{"id":'.repeat(200_000)),
  'a 502 with JSON in UTF-16': answers(502, JSON_TYPE, Buffer.from('\ufeff{}', 'utf16le')),
  'a 202 with an empty id': answers(202, JSON_TYPE, '{"id":null}'),
  'a 500 with a code that is none': answers(500, JSON_TYPE, '{"code":{"a":[]},"detail":7}'),
};

/** Responses that a client takes as they are. */
export const HARMLESS: Readonly<Record<string, Fault>> = {
  'limits that are reset in nanoseconds': limits('1800000000000000000'),
  'limits that are reset in milliseconds': limits('1800000000000'),
  'limits that were reset long ago': limits('-100000000000000000'),
  'limits that are reset after the last year': limits('253402300800'),
  'limits that are reset at Infinity': limits('Infinity'),
  'limits that are reset at a date': limits('Sat, 28 Nov 2026 09:30:00 GMT'),
  'limits that are never reset': limits('9'.repeat(400)),
  'a response that is late': async (response, forward) => {
    const { status, headers, body } = await forward();
    setTimeout(() => response.writeHead(status, headers).end(body), 200);
  },
};

/** Responses that never end, which a client that limits the time of a try repeats. */
export const ENDLESS: Readonly<Record<string, Fault>> = {
  'a body that drips': (response) => {
    response.writeHead(202, JSON_TYPE).flushHeaders();
    drip(response, () => '1\r\n \r\n');
  },
  'a status line that drips': (response) => {
    response.socket?.write('HTTP/1.1 202 ');
    drip(response, () => 'A');
  },
  'a header that drips': (response) => {
    response.socket?.write('HTTP/1.1 202 Accepted\r\nx: ');
    drip(response, () => 'x');
  },
  'headers that drip': (response) => {
    response.socket?.write('HTTP/1.1 202 Accepted\r\n');
    let count = 0;
    drip(response, () => (++count % 10 === 0 ? 'x: y\r\n' : ''));
  },
  'informational responses without end': (response) => {
    drip(response, () => 'HTTP/1.1 103 Early Hints\r\n\r\n');
  },
  'a compressed body that drips': (response) => {
    response.writeHead(202, { ...JSON_TYPE, 'content-encoding': 'gzip' }).flushHeaders();
    drip(response, () => '1\r\n\x1f\r\n');
  },
  silence: () => undefined,
};

/** Writes without end, as fast as the client reads. */
const flood = (response: ServerResponse, stream: Writable, part: string) => {
  const write = () => {
    while (!response.destroyed && stream.write(part));
  };
  stream.on('drain', write);
  response.once('close', () => stream.destroy());
  write();
};
const floods =
  (status: number, start: string, part: string): Fault =>
  (response) => {
    response.writeHead(status, JSON_TYPE).write(start);
    flood(response, response, part);
  };
const bomb =
  (encoding: string, compress: () => Transform): Fault =>
  (response) => {
    response.writeHead(202, { ...JSON_TYPE, 'content-encoding': encoding });
    const compressor = compress();
    compressor.pipe(response);
    compressor.write('{"id":"');
    flood(response, compressor, 'a'.repeat(65_536));
  };

/** Responses without an end that arrive fast, which a client must not keep. */
export const FLOODS: Readonly<Record<string, Fault>> = {
  'a text without end': floods(202, '{"id":"', 'a'.repeat(65_536)),
  'spaces without end': floods(202, '', ' '.repeat(65_536)),
  'a list without end': floods(202, '[', '{},'.repeat(20_000)),
  'a page with status 502 without end': floods(502, '<h1>', 'a'.repeat(65_536)),
  'a 429 without end': floods(429, '{"code":"', 'a'.repeat(65_536)),
  'a text without end, compressed by gzip': bomb('gzip', createGzip),
  'a text without end, compressed by deflate': bomb('deflate', createDeflate),
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

/** The response of Sluice, compressed though nobody asked. */
export const COMPRESSED: Fault = async (response, forward) => {
  const { status, body } = await forward();
  response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(body));
};

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
