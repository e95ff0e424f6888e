import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { AUTHORITY, KEY, SELF_SIGNED } from '../../../test/support/receiver-certificates.js';
import { listen, until } from '../../../test/support/processes.js';
import { MAX_IDLE, OutgoingConnections, USER_AGENT } from './connections.js';

/** What a receiver does when a request has arrived, the n-th of its connection. */
type Script = (socket: Socket, n: number) => void;

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const BLOCK = 65_536;

/** Sends the beginning, and then the same again and again, as fast as it is read. */
const floods =
  (beginning: string, again: string): Script =>
  (socket) => {
    const block = again.repeat(Math.ceil(BLOCK / again.length));
    const flood = () => {
      while (!socket.destroyed && socket.write(block));
      if (!socket.destroyed) socket.once('drain', flood);
    };
    socket.write(beginning);
    flood();
  };

/** Sends byte after byte, each in a segment of its own. */
const drips =
  (beginning: string, again: string): Script =>
  (socket) => {
    socket.setNoDelay(true);
    socket.write(beginning);
    const drip = () => {
      if (socket.destroyed) return;
      socket.write(again);
      setImmediate(drip);
    };
    drip();
  };

/** What never ends by itself, and whether its status counts. */
const ENDLESS: readonly (readonly [string, Script, answered: boolean])[] = [
  ['informational responses', floods('', 'HTTP/1.1 103 Early Hints\r\n\r\n'), false],
  ['informational responses with headers', floods('', 'HTTP/1.1 103 x\r\nLink: </a>; rel=preload\r\n\r\n'), false],
  ['102 responses, one at a time', drips('', 'HTTP/1.1 102 x\r\n\r\n'), false],
  ['100 responses', floods('', 'HTTP/1.1 100 Continue\r\n\r\n'), false],
  ['line ends before the answer', floods('', '\r\n'), false],
  ['line ends before the answer, one at a time', drips('', '\r\n'), false],
  ['a reason phrase', floods('HTTP/1.1 200 ', 'x'), false],
  ['headers', floods('HTTP/1.1 200 OK\r\n', 'X-Flood: x\r\n'), false],
  ['one header', floods('HTTP/1.1 200 OK\r\nX-Flood: ', 'x'), false],
  ['a header of spaces', floods('HTTP/1.1 200 OK\r\nX-Flood: ', ' '), false],
  ['the name of a header', floods('HTTP/1.1 200 OK\r\n', 'x'), false],
  ['folded headers', floods('HTTP/1.1 200 OK\r\nX-Flood: x\r\n', ' x\r\n'), false],
  ['bytes of a header, one at a time', drips('HTTP/1.1 200 OK\r\nX-Drip: ', 'x'), false],
  ['something else than HTTP', floods('', 'SSH-2.0-OpenSSH_9.9\r\n'), false],
  ['zeros', floods('', '\0'), false],
  ['a body', floods('HTTP/1.1 200 OK\r\n\r\n', 'x'), true],
  ['a body of some length', floods('HTTP/1.1 200 OK\r\nContent-Length: 9007199254740991\r\n\r\n', 'x'), true],
  ['chunks', floods(CHUNKED, '5\r\nhello\r\n'), true],
  ['chunks of a byte', floods(CHUNKED, '1\r\nx\r\n'), true],
  ['chunks of a byte, one at a time', drips(CHUNKED, '1\r\nx\r\n'), true],
  ['the extension of a chunk', floods(`${CHUNKED}1;`, 'x'), true],
  ['extensions of chunks', floods(CHUNKED, `1;${'x=y;'.repeat(1_000)}\r\nx\r\n`), true],
  ['zeros before the size of a chunk', floods(CHUNKED, '0'), true],
  ['trailers', floods(`${CHUNKED}0\r\n`, 'X-Flood: x\r\n'), true],
  ['a trailer', floods(`${CHUNKED}0\r\nX-Flood: `, 'x'), true],
  ['line ends after the answer', floods(OK, '\r\n'), true],
  ['line ends after the answer, one at a time', drips(OK, '\r\n'), true],
  ['answers that nobody asked for', floods(OK, OK), true],
  ['informational responses after the answer', floods(OK, 'HTTP/1.1 103 x\r\n\r\n'), true],
  ['garbage after the answer', floods(OK, 'x'), true],
  ['nothing after the beginning of a body', (socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\nx'), true],
  ['nothing after the beginning of a chunk', (socket) => void socket.write(`${CHUNKED}5\r\nh`), true],
];

describe('Outgoing connections', () => {
  const ending: (() => void)[] = [];
  afterEach(() => {
    for (const end of ending.splice(0)) end();
  });

  const connections = (keptBytes = 1_024) => {
    const made = new OutgoingConnections({ isAllowed: () => true, keptBytes });
    ending.push(() => {
      void made.close();
    });
    return made;
  };

  const serve = async (server: Server, script: Script) => {
    const sockets: Socket[] = [];
    const requests: string[] = [];
    const accept = (socket: Socket) => {
      let count = 0;
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (data: Buffer) => {
        requests.push(data.toString());
        script(socket, ++count);
      });
    };
    server.on('secureConnection', accept);
    if (!('setSecureContext' in server)) server.on('connection', accept);
    const origin = await listen(server);
    ending.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    return { origin, sockets, requests };
  };
  const receiver = (script: Script) => serve(createTcpServer(), script);

  const post = (from: OutgoingConnections, origin: string, timeoutMs = 60_000) =>
    from.post(origin, { path: '/', headers: {}, body: 'hello' }, AbortSignal.timeout(timeoutMs));

  it.each(ENDLESS)('end %s', async (_what, script, answered) => {
    const { origin, sockets } = await receiver(script);
    const status = await post(connections(), origin).then(
      (answer) => answer.status,
      () => null,
    );
    expect(status).toBe(answered ? 200 : null);
    await until(() => sockets[0]?.destroyed === true);
    // What the system buffers comes on top of what is read.
    expect(sockets[0]?.bytesWritten).toBeLessThan(16 * 1_048_576);
  });

  it('serve others while receivers send what never ends', async () => {
    const own = connections();
    const { origin } = await receiver((socket) => void socket.write(OK));
    for (const [, script] of ENDLESS) {
      const hostile = await receiver(script);
      const attack = post(own, hostile.origin).catch(() => undefined);
      for (let count = 0; count < 3; count++) expect((await post(own, origin)).status).toBe(200);
      await attack;
    }
  });

  it('read a body that is not too long, and are used again', async () => {
    const body = 'x'.repeat(100_000);
    const { origin, sockets, requests } = await receiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    const own = connections();
    for (let count = 0; count < 20; count++) {
      const answer = await post(own, origin);
      expect([answer.status, answer.body.length]).toEqual([200, 1_024]);
      await until(() => own.counts.idle === 1);
    }
    expect([sockets.length, requests.length]).toEqual([1, 20]);
  });

  it('count what precedes an answer, and let a few informational responses pass', async () => {
    const { origin } = await receiver((socket) => {
      socket.write(`\r\n${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(10)}${OK}`);
    });
    expect((await post(connections(), origin)).status).toBe(200);
  });

  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
  it.each([
    ['100', [CONTINUE + OK]],
    ['100 in a piece of its own', [CONTINUE, OK]],
    ['100 with a header', ['HTTP/1.1 100 Go on\r\nDate: x\r\n\r\n', OK]],
    ['100 without a reason', ['HTTP/1.1 100\r\n\r\n', OK]],
    ['100 after a line end', [`\r\n${CONTINUE}`, OK]],
    ['100 twice', [CONTINUE + CONTINUE + OK]],
    ['100 twice, in other pieces', [CONTINUE.slice(0, -1), CONTINUE.slice(-1) + CONTINUE, OK]],
    ['100 in two pieces', [CONTINUE.slice(0, 11), CONTINUE.slice(11) + OK]],
    ['100 in many pieces', [...CONTINUE.split(''), OK]],
    ['100 before 103', [CONTINUE + HINTS + OK]],
    ['100 after 103', [HINTS, CONTINUE, OK]],
    ['102', ['HTTP/1.1 102 Processing\r\n\r\n', OK]],
    ['199', ['HTTP/1.1 199 x\r\n\r\n', OK]],
  ])('read the answer after an informational response that they have not asked for: %s', async (_what, pieces) => {
    const { origin, sockets } = await receiver((socket) => {
      void (async () => {
        for (const piece of pieces) {
          socket.write(piece);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })();
    });
    const own = connections();
    for (let count = 0; count < 2; count++) expect((await post(own, origin)).status).toBe(200);
    expect(sockets).toHaveLength(1);
  });

  it('do not read a status in a body', async () => {
    const body = `${CONTINUE}HTTP/1.1 100 x`;
    const { origin } = await receiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
      setTimeout(() => socket.write(body), 20);
    });
    expect((await post(connections(), origin)).body.toString()).toBe(body);
  });

  it.each([
    ['closed', (socket: Socket) => socket.destroy()],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
    ['half-closed', (socket: Socket) => socket.end()],
  ])('repeat a request on a fresh connection when the one that was used before is %s', async (_how, end) => {
    const { origin, sockets, requests } = await receiver((socket, n) => {
      if (n === 1) socket.write(OK);
      else end(socket);
    });
    const own = connections();
    for (let count = 0; count < 3; count++) {
      expect((await post(own, origin)).status).toBe(200);
      await until(() => own.counts.idle === 1);
    }
    expect([sockets.length, requests.length]).toEqual([3, 5]);
  });

  it.each([
    ['a fresh connection is closed', 1, (socket: Socket) => socket.destroy()],
    ['an answer had begun', 2, (socket: Socket) => socket.end('HTTP/1.1 2')],
  ])('do not repeat a request when %s', async (_what, closedAt, close) => {
    const { origin, requests } = await receiver((socket, n) => {
      if (n === closedAt) close(socket);
      else socket.write(OK);
    });
    const own = connections();
    for (let count = 1; count < closedAt; count++) await post(own, origin);
    await expect(post(own, origin)).rejects.toThrow();
    expect(requests).toHaveLength(closedAt);
  });

  it('name the program, whatever the caller says', async () => {
    const { origin, requests } = await receiver((socket) => void socket.write(OK));
    const headers = { 'User-Agent': 'other', 'user-agent': 'another' };
    await connections().post(origin, { path: '/', headers, body: '' }, AbortSignal.timeout(10_000));
    expect(requests[0]?.match(/user-agent: .*/gi)).toEqual([`user-agent: ${USER_AGENT}`]);
    expect(USER_AGENT).toMatch(/^Sluice\/\d+\.\d+\.\d+/);
  });

  it('are closed after some seconds, whatever the receiver asks for', async () => {
    const { origin, sockets } = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nKeep-Alive: timeout=600\r\nContent-Length: 0\r\n\r\n');
    });
    const own = connections();
    await post(own, origin);
    await until(() => own.counts.idle === 1);
    expect(own.counts.busy).toBe(0);
    await until(() => sockets[0]?.destroyed === true, 60_000);
    await until(() => own.counts.idle === 0);
    expect(own.counts.busy).toBe(0);
  }, 100_000);

  it(`are at most ${MAX_IDLE} while idle`, async () => {
    const { origin, sockets } = await receiver(() => {
      if (sockets.length > MAX_IDLE) for (const one of sockets.splice(0)) one.write(OK);
    });
    const own = connections();
    await Promise.all(Array.from({ length: MAX_IDLE + 1 }, () => post(own, origin)));
    await until(() => own.counts.busy === 0);
    expect(own.counts.idle).toBe(MAX_IDLE);
  });

  it('end an attempt to connect with its request', async () => {
    const server = createTcpServer({ pauseOnConnect: true });
    const { origin } = await serve(server, () => undefined);
    const own = connections();
    await expect(post(own, origin.replace('http', 'https'), 100)).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(own.counts).toEqual({ busy: 0, idle: 0 });
  });

  it('do not trust an unknown authority', async () => {
    const server = createTlsServer({ key: KEY, cert: SELF_SIGNED, ca: AUTHORITY });
    const { origin } = await serve(server, (socket) => void socket.write(OK));
    await expect(post(connections(), origin.replace('http:', 'https:'))).rejects.toMatchObject({
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
  });
});
