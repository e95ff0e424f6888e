import { setTimeout as sleep } from 'node:timers/promises';
import { contentOfJson } from '#messages/index.js';
import { anEndpoint } from '../../../../test/support/endpoints.js';
import type { DueEndpoint, EndpointDeliveries, LeasedDelivery } from '../endpoint-deliveries.js';
import type { DeliveryResult } from '../endpoint-deliveries.js';
import type { Endpoints } from '../endpoints/endpoints.js';
import { SecretBox } from '../endpoints/secret-box.js';
import type { WebhookClient } from './webhook-client.js';
import { DeliverWebhook } from './deliver-webhook.js';
import { WebhookSender } from './webhook-sender.js';

const AT = new Date('2026-11-21T09:30:00Z');
const endpoint = anEndpoint();
const leased: LeasedDelivery = {
  ...{
    token: 'a',
    endpointId: endpoint.id,
    messageId: 'msg_1',
    content: contentOfJson({ message: 'hello' }),
    createdAt: AT,
  },
  ...{ accountId: endpoint.accountId, traceparent: null, failures: 0, endpointVersion: '1' },
};

describe('WebhookSender', () => {
  const box = new SecretBox([Buffer.alloc(32)]);
  const secrets = [{ sealed: box.seal(Buffer.alloc(24), endpoint.id), expiresAt: null }];
  let due: DueEndpoint[];
  let looked: number;
  let nextIn: number | null;
  let announce: () => void;
  let noted: string[];
  let settled: DeliveryResult[];
  let counted: number[];
  let hasRoom: boolean;
  let answer: () => Promise<{ status: number; body: string; retryAfterMs: null }>;
  let sender: WebhookSender;

  beforeEach(() => {
    due = [];
    looked = 0;
    nextIn = null;
    noted = [];
    settled = [];
    counted = [];
    hasRoom = true;
    const deliveries = {
      due: () => {
        looked++;
        return Promise.resolve(due);
      },
      nextIn: () => Promise.resolve(nextIn),
      listen: (listener: () => void) => (announce = listener),
      lease: () => {
        due = [];
        return Promise.resolve([leased]);
      },
      settle: (result: DeliveryResult) => {
        noted.push('settled');
        settled.push(result);
        return Promise.resolve();
      },
    };
    const endpoints = {
      targets: () => Promise.resolve([{ endpoint, secrets, headers: null, version: '1' }]),
    };
    const ignore = () => undefined;
    const observer = { attempted: ignore, requested: ignore, disabled: ignore, failed: ignore, lacksKey: ignore };
    const webhooks = new DeliverWebhook(
      deliveries,
      endpoints as unknown as Endpoints,
      box,
      { post: () => answer() } as unknown as WebhookClient,
      { retrySeconds: [5], disableAfterMs: 1_000 },
      { now: () => AT },
      observer,
      { hasRoom: () => hasRoom, countAttempt: (_account, bytes) => counted.push(bytes) },
    );
    sender = new WebhookSender(
      deliveries as unknown as EndpointDeliveries,
      endpoints as unknown as Endpoints,
      webhooks,
      { concurrency: 10, timeoutMs: 1_000 },
      observer,
      { isRight: true },
    );
    sender.start();
  });
  afterEach(() => sender.close(0));

  const looks = async (more: number) => {
    for (const wanted = looked + more; looked < wanted;) await sleep(1);
  };

  it('sleeps while nothing is due, until something is announced or the time of the next delivery has come', async () => {
    const before = looked;
    await sleep(100);
    // It looks at least once a second.
    expect(looked - before).toBeLessThanOrEqual(1);
    const startedAt = performance.now();
    for (let times = 0; times < 20; times++) {
      const looking = looks(1);
      announce();
      await looking;
    }
    nextIn = 10;
    await looks(20);
    // It would look once a second otherwise.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });

  it('leaves what it cannot sign to others, and does not search for it again and again', async () => {
    nextIn = 0;
    due = [{ endpointId: endpoint.id, accountId: endpoint.accountId, due: 1, rateLimitPerSecond: 0, keyId: 'other' }];
    const looking = looks(1);
    announce();
    await looking;
    const before = looked;
    await sleep(100);
    expect(looked - before).toBeLessThanOrEqual(1);
    expect(due).toHaveLength(1);
  });

  it.each([
    ['stores what a receiver answered, and counts it', true, 'x'.repeat(1_024), 538],
    ['stores no responses of an account that stores all it may', false, null, 0],
  ])('%s', async (_what, room, body, bytes) => {
    hasRoom = room;
    answer = () => Promise.resolve({ status: 500, body: 'x'.repeat(1_024), retryAfterMs: null });
    due = [{ endpointId: endpoint.id, accountId: endpoint.accountId, due: 1, rateLimitPerSecond: 0, keyId: null }];
    announce();
    while (counted.length === 0) await sleep(1);
    expect(settled.map(({ responseBody }) => responseBody)).toEqual([body]);
    expect(counted).toEqual([bytes]);
  });

  it.each([
    ['counts a request that fails while it stops', 1_000, ['settled']],
    ['does not count one that fails because it has stopped', 0, []],
  ])('%s', async (_what, graceMs, expected) => {
    let fail = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      answer = () => {
        resolve();
        return new Promise((_resolve, reject) => {
          fail = () => {
            reject(new Error('The receiver closed the connection.'));
          };
        });
      };
    });
    due = [{ endpointId: endpoint.id, accountId: endpoint.accountId, due: 1, rateLimitPerSecond: 0, keyId: null }];
    announce();
    await asked;
    const closed = sender.close(graceMs);
    if (graceMs === 0) await closed;
    fail();
    await closed;
    await sleep(10);
    expect(noted).toEqual(expected);
  });
});
