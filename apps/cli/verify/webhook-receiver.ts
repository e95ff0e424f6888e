import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifyWebhook } from '#client/index.js';
import { UsageError } from '#platform/process/usage-error.js';
import type { AccountChanges } from './account-changes.js';
import type { Guarantee } from './check-guarantees.js';
import type { Consumers } from './consumers.js';

/** One in so many messages is refused at first, and one in so many gets no answer: they must come again. */
const REFUSED_EVERY = 20;
const DROPPED_EVERY = 50;

/** An endpoint of the account, which notes each message that it has got. */
export class WebhookReceiver implements Consumers {
  private readonly got = new Set<string>();
  private readonly seen = new Set<string>();
  private readonly forged: string[] = [];
  private readonly server = createServer((request, response) => {
    this.receive(request, response).catch(() => request.destroy());
  });
  private secret = '';

  /** @param url by which the service reaches it; undefined for a free port of this machine */
  constructor(
    private readonly changes: AccountChanges,
    private readonly url: string | undefined,
  ) {}

  async start(): Promise<void> {
    const { data } = await this.changes.request('GET', '/endpoints?limit=100');
    if ((data as readonly { enabled: boolean }[]).some(({ enabled }) => enabled)) {
      throw new UsageError('The account has endpoints, which would get the messages as well. Disable them first.');
    }
    if (this.url === undefined) this.server.listen(0, '127.0.0.1');
    else this.server.listen(Number(new URL(this.url).port || 80));
    await once(this.server, 'listening');
    this.secret = await this.changes.addEndpoint(
      this.url ?? `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`,
    );
    await this.changes.switchDelivery('webhooks', ['account:manage']);
  }

  has(id: string): boolean {
    return this.got.has(id);
  }

  areAlone(): Promise<boolean> {
    return this.changes.isDeliveryKept();
  }

  get guarantees(): Guarantee[] {
    return [{ text: 'each webhook is signed', violations: this.forged }];
  }

  async stop(): Promise<void> {
    await this.changes.undo().finally(() => {
      this.server.close();
      this.server.closeAllConnections();
    });
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const id = String(request.headers['webhook-id']);
    const payload = await verifyWebhook(request.headers, body, this.secret).catch(() => null);
    if (payload?.data.id !== id) {
      this.forged.push(`a request for ${id} is not signed by the secret of the endpoint`);
      response.writeHead(401).end();
      return;
    }
    const isFirst = !this.seen.has(id);
    this.seen.add(id);
    if (isFirst && this.seen.size % DROPPED_EVERY === 0) request.destroy();
    else if (isFirst && this.seen.size % REFUSED_EVERY === 0) response.writeHead(500).end();
    else {
      this.got.add(id);
      response.writeHead(204).end();
    }
  }
}
