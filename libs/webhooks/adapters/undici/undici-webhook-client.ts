import { lookup } from 'node:dns/promises';
import type { Readable } from 'node:stream';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Agent } from 'undici';
import { WebhookClient, type Answer, type WebhookRequest } from '../../application/webhook-client.js';
import { addressIn, isPublic, resolveByDns, type Resolve } from './addresses.js';
import { ForbiddenAddress, guardedConnector } from './guarded-connector.js';

export interface ClientOptions {
  /** For a whole request, from the look-up of the name to the end of the answer. */
  readonly timeoutMs: number;
  /** For development: every address may be reached. */
  readonly allowPrivate: boolean;
}

/** Bytes of an answer that are kept. */
const KEPT_BYTES = 1_024;
/** Bytes of an answer that are read, so that its connection can be used again. A longer answer closes the connection. */
const READ_BYTES = 65_536;
const MAX_HEADER_BYTES = 16_384;

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host name does not exist.',
  ENODATA: 'The host name has no address.',
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection.',
  UND_ERR_SOCKET: 'The receiver closed the connection.',
  UND_ERR_CONNECT_TIMEOUT: 'The receiver did not accept the connection in time.',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the answer are too large.',
};

/**
 * Keeps connections per origin, without a limit: the caller limits requests, and requests to one origin must not wait
 * for each other. It ignores the proxy settings of the environment, since a proxy would resolve host names itself.
 */
export class UndiciWebhookClient extends WebhookClient implements OnApplicationShutdown {
  private readonly agent: Agent;
  private readonly isAllowed: (address: string) => boolean;

  constructor(
    private readonly options: ClientOptions,
    // In development, names of the machine and of its containers are reached as well.
    resolve: Resolve = options.allowPrivate ? resolveBySystem : resolveByDns(),
  ) {
    super();
    this.isAllowed = options.allowPrivate ? () => true : isPublic;
    this.agent = new Agent({
      connect: guardedConnector(resolve, this.isAllowed, options.timeoutMs),
      // The deadline of the request ends it.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      pipelining: 1,
    });
  }

  isForbidden(url: string): boolean {
    const parsed = new URL(url);
    const address = addressIn(parsed);
    const isLoopback = /(^|\.)localhost\.?$/.test(parsed.hostname);
    return address === null ? isLoopback && !this.options.allowPrivate : !this.isAllowed(address);
  }

  async post({ url, headers, body }: WebhookRequest): Promise<Answer> {
    const { origin, pathname, search } = new URL(url);
    const deadline = new AbortController();
    const timer = setTimeout(() => {
      deadline.abort();
    }, this.options.timeoutMs);
    try {
      const request = { origin, path: pathname + search, method: 'POST', headers, body } as const;
      const answer = await this.agent.request({ ...request, signal: deadline.signal });
      const retryAfter = answer.headers['retry-after'];
      return {
        status: answer.statusCode,
        body: await beginningOf(answer.body),
        retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
      };
    } catch (error) {
      throw new Error(deadline.signal.aborted ? this.timeout() : reasonOf(error), { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  onApplicationShutdown(): Promise<void> {
    return this.agent.destroy();
  }

  private timeout(): string {
    return `The receiver did not answer within ${this.options.timeoutMs} ms.`;
  }
}

/** Resolves also when the answer is cut off: its status has decided by then. */
function beginningOf(body: Readable): Promise<string> {
  return new Promise((resolve) => {
    const kept: Buffer[] = [];
    let size = 0;
    body.on('data', (chunk: Buffer) => {
      if (size < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - size));
      size += chunk.length;
      if (size > READ_BYTES) body.destroy();
    });
    body.on('error', () => undefined);
    body.on('close', () => {
      // It may end within a character, and PostgreSQL stores no U+0000.
      resolve(Buffer.concat(kept).toString().replaceAll('\u0000', '\ufffd'));
    });
  });
}

/** Without addresses: the account may know the name of the host only. */
function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (error instanceof ForbiddenAddress) return 'The host is not public: one of its addresses is not allowed.';
  if (/CERT|TLS|SSL/.test(code)) return `The receiver has no valid TLS certificate (${code}).`;
  const firstOf = error instanceof AggregateError ? (error.errors[0] as unknown) : undefined;
  if (firstOf !== undefined) return reasonOf(firstOf);
  return REASONS[code] ?? `The request failed (${code === '' ? message : code}).`;
}

async function resolveBySystem(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
