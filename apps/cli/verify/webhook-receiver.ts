import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifyWebhook } from '#client/index.js';
import { UsageError } from '#platform/usage-error.js';
import type { Guarantee } from './check-guarantees.js';
import { switchDelivery, untilDone, type Consumers } from './consumers.js';
import type { Service } from './service.js';

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
  private restore = (): Promise<void> => Promise.resolve();

  /**
   * @param receive the URL by which the service reaches it; undefined for a free port of this machine
   * @throws UsageError when the account or the key is not suitable, or the service refuses the URL
   */
  static async start(service: Service, receive: string | undefined): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    try {
      await receiver.open(service, receive);
    } catch (error) {
      await receiver.stop();
      throw error;
    }
    return receiver;
  }

  has(id: string): boolean {
    return this.got.has(id);
  }

  get guarantees(): Guarantee[] {
    return [{ text: 'each webhook is signed', violations: this.forged }];
  }

  async stop(): Promise<void> {
    await this.restore();
    this.server.close();
    this.server.closeAllConnections();
  }

  private async open(service: Service, receive: string | undefined): Promise<void> {
    const { body } = await service.get('/endpoints?limit=100', 0);
    const others = (body?.data ?? []) as readonly { enabled: boolean }[];
    if (others.some(({ enabled }) => enabled)) {
      throw new UsageError('The account has endpoints, which would get the messages as well. Disable them first.');
    }
    if (receive === undefined) this.server.listen(0, '127.0.0.1');
    else this.server.listen(Number(new URL(receive).port));
    await once(this.server, 'listening');
    const url = receive ?? `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
    const created = await service.send('POST', '/endpoints', { url, description: 'npm run verify' }, 0);
    const { id, secret, detail } = created.body as { id?: string; secret?: string; detail?: string };
    if (id === undefined || secret === undefined) {
      throw new UsageError(`The service did not create an endpoint for ${url}: ${detail ?? created.status}`);
    }
    this.secret = secret;
    const remove = () => untilDone(service, 'DELETE', `/endpoints/${id}`, {});
    this.restore = remove;
    const switchBack = await switchDelivery(service, 'webhooks', 'the scope account:manage');
    this.restore = async () => {
      await switchBack();
      await remove();
    };
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
