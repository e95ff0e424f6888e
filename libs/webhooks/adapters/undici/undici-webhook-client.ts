import { lookup } from 'node:dns/promises';
import type { OnApplicationShutdown } from '@nestjs/common';
import { OutgoingConnections } from '#platform/outgoing/connections.js';
import { retryAfterMs } from '#platform/outgoing/retry-after.js';
import { WebhookClient, type Answer, type WebhookRequest } from '../../application/sending/webhook-client.js';
import { addressIn, isPublic, resolveByDns, type Resolve } from './addresses.js';
import { guardedLookup } from './guarded-lookup.js';
import { reasonOf } from './reasons.js';

export interface ClientOptions {
  /** For a whole request, from the look-up of the name to the end of the answer. */
  readonly timeoutMs: number;
  /** For development: every address may be reached. */
  readonly allowPrivate: boolean;
}

/** Bytes of an answer that are kept. */
const KEPT_BYTES = 1_024;

/** Without a limit of requests: the caller limits them, and requests to one origin must not wait for each other. */
export class UndiciWebhookClient extends WebhookClient implements OnApplicationShutdown {
  private readonly connections: OutgoingConnections;
  private readonly isAllowed: (address: string) => boolean;

  constructor(
    private readonly options: ClientOptions,
    // In development, names of the machine and of its containers are reached as well.
    resolve: Resolve = options.allowPrivate ? resolveBySystem : resolveByDns(),
  ) {
    super();
    this.isAllowed = options.allowPrivate ? () => true : isPublic;
    const reach = { lookup: guardedLookup(resolve, this.isAllowed), isAllowed: this.isAllowed };
    this.connections = new OutgoingConnections({ ...reach, keptBytes: KEPT_BYTES });
  }

  /** Connections that are open. */
  get counts(): OutgoingConnections['counts'] {
    return this.connections.counts;
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
      deadline.abort(new Error('The request took too long.'));
    }, this.options.timeoutMs);
    try {
      const answer = await this.connections.post(origin, { path: pathname + search, headers, body }, deadline.signal);
      return {
        status: answer.status,
        // It may end within a character, and PostgreSQL stores no U+0000.
        body: answer.body.toString().replaceAll('\u0000', '\ufffd'),
        retryAfterMs: retryAfterMs(answer.headers['retry-after']),
      };
    } catch (error) {
      throw new Error(deadline.signal.aborted ? this.timeout() : reasonOf(error), { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  onApplicationShutdown(): Promise<void> {
    return this.connections.close();
  }

  private timeout(): string {
    return `The receiver did not answer within ${this.options.timeoutMs} ms.`;
  }
}

async function resolveBySystem(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
