import { STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fastify, type FastifyError, type FastifyInstance } from 'fastify';
import type { Logger } from './logging.js';
import { listenErrorMessage } from '../process/listen-error.js';
import { isDecodable, routedTarget } from '../http/edge/request-form.js';
import { UsageError } from '../process/usage-error.js';
import { AllowedHosts } from './allowed-hosts.js';
import type { Health } from './health.js';
import type { Metrics } from './metrics.js';
import { NOTHING_HERE, type OperatorsPages } from './operators-pages.js';

const REQUEST_TIMEOUT_MS = 10_000;

const UNKNOWN_HOST = 'Call this port by its address, or list the name of the Host header in MANAGEMENT_ALLOWED_HOSTS.';

const UNDECODABLE = 'The path has invalid percent-encoding.';

interface ManagementOptions {
  readonly host: string;
  /** Names by which it may be called, besides `host`, `localhost` and all addresses. */
  readonly allowedHosts: readonly string[];
  /** 0 for any free port. */
  readonly port: number;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** null without an operators' key. */
  readonly queue: OperatorsPages | null;
  /** Adds further routes. */
  readonly mount: (server: FastifyInstance) => void;
}

/** The second port of a process, for its operators only: health, metrics, and pages that show the queue. */
export class ManagementServer {
  private constructor(
    private readonly server: FastifyInstance,
    /** Where it listens, e.g. `http://127.0.0.1:9464`. */
    readonly url: string,
  ) {}

  /** @throws UsageError when it cannot listen there */
  static async open(options: ManagementOptions): Promise<ManagementServer> {
    const { host, port, allowedHosts, health, metrics, logger, queue, mount } = options;
    const server = fastify({
      forceCloseConnections: true,
      requestTimeout: REQUEST_TIMEOUT_MS,
      clientErrorHandler: respondToUnreadable,
      rewriteUrl: routedTarget,
      // As on the API port: what mounted routes refuse must not be dropped before.
      http: { joinDuplicateHeaders: true },
    });
    server.server.maxHeadersCount = 0;
    const hosts = new AllowedHosts([host, ...allowedHosts]);
    // Before the mounted routes.
    server.addHook('onRequest', (request, reply, done) => {
      if (hosts.includes(request.headers.host) && hosts.includes(targetHost(request.originalUrl))) done();
      else void reply.code(421).header('connection', 'close').send({ error: UNKNOWN_HOST });
    });
    server.addHook('onSend', (_request, reply, _payload, done) => {
      if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
      done();
    });
    server.setNotFoundHandler(({ originalUrl }, reply) =>
      isDecodable(originalUrl) ? reply.code(404).send(NOTHING_HERE) : reply.code(400).send({ error: UNDECODABLE }),
    );
    server.setErrorHandler<FastifyError>((error, request, reply) => {
      const { statusCode = 500, message } = error;
      if (statusCode < 500) return reply.code(statusCode).send({ error: message });
      logger.error({ err: error, path: request.routeOptions.url }, 'a management request failed');
      return reply.code(500).send({ error: 'An internal error occurred and was logged.' });
    });
    server.get('/health/live', () => ({ status: 'live' }));
    server.get('/health/ready', async (_request, reply) => {
      const { ready, checks } = await health.readiness();
      return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready', checks });
    });
    server.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
    queue?.mount(server);
    mount(server);
    server.addHook('onClose', () => queue?.close());
    try {
      await server.listen({ host, port });
    } catch (error) {
      const message = listenErrorMessage(error, 'MANAGEMENT_');
      throw message === null ? error : new UsageError(message, { cause: error });
    }
    const { address, port: bound } = server.server.address() as AddressInfo;
    const reachable = ['0.0.0.0', '::'].includes(address) ? '127.0.0.1' : address;
    return new ManagementServer(server, `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound}`);
  }

  async close(): Promise<void> {
    await this.server.close();
  }
}

/** The host that a request target names in its absolute form, which has precedence over the header. */
function targetHost(target = ''): string | undefined {
  return /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1];
}

const UNREADABLE: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};

function respondToUnreadable({ code = '' }: Error & { code?: string }, socket: Socket): void {
  const [status, error] = UNREADABLE[code] ?? [400, 'The request is not valid HTTP/1.1.'];
  const body = JSON.stringify({ error });
  const headers = [
    ...['Content-Type: application/json; charset=utf-8', 'Cache-Control: no-store', 'Connection: close'],
    `Content-Length: ${body.length}`,
  ];
  if (socket.writable)
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  socket.destroy();
}
