import { contentOfJson } from '#messages/index.js';
import { anEndpoint } from '../../../../test/support/endpoints.js';
import type { Endpoint } from '../../domain/endpoint.js';
import type { DeliveryResult, LeasedDelivery } from '../endpoint-deliveries.js';
import type { Endpoints, Target } from '../endpoints/endpoints.js';
import { SecretBox } from '../endpoints/secret-box.js';
import { DeliverWebhook } from './deliver-webhook.js';
import type { WebhookClient } from './webhook-client.js';

const AT = new Date('2026-11-21T09:30:00Z');
const endpoint = anEndpoint({ revision: 3, types: ['order.*'] });

describe('DeliverWebhook', () => {
  const box = new SecretBox([Buffer.alloc(32)]);
  const secrets = [{ sealed: box.seal(Buffer.alloc(24), endpoint.id), expiresAt: null }];
  const target = (changes: Partial<Endpoint>): Target => ({
    ...{ endpoint: { ...endpoint, ...changes }, secrets, headers: null, version: '1' },
  });

  it.each<[string, Target | undefined, string, Partial<DeliveryResult>]>([
    ['posts what the endpoint wants', target({}), 'order.paid', { outcome: 'delivered', error: null, revision: 3 }],
    ['not to one that was deleted', undefined, 'order.paid', { error: 'endpoint_deleted' }],
    ['not to one that is disabled', target({ enabled: false }), 'order.paid', { error: 'endpoint_disabled' }],
    ['not what it no longer wants', target({}), 'user.new', { error: 'endpoint_types_changed' }],
  ])('%s', async (_what, to, type, expected) => {
    const settled: DeliveryResult[] = [];
    const post = jest.fn(() => Promise.resolve({ status: 204, body: '', retryAfterMs: null }));
    const ignore = () => undefined;
    const deliver = new DeliverWebhook(
      { settle: (result) => Promise.resolve(void settled.push(result)) },
      {} as Endpoints,
      box,
      { post } as unknown as WebhookClient,
      { retrySeconds: [5], disableAfterMs: 1_000 },
      { now: () => AT },
      { attempted: ignore, requested: ignore, disabled: ignore, failed: ignore, lacksKey: ignore },
      { hasRoom: () => true, countAttempt: ignore },
    );
    const delivery: LeasedDelivery = {
      ...{ token: 'a', endpointId: endpoint.id, messageId: 'msg_1', createdAt: AT, accountId: endpoint.accountId },
      ...{ content: contentOfJson({ message: 'hello', type }), traceparent: null, failures: 0, endpointVersion: '1' },
    };
    const release = jest.fn();
    const stop = { signal: new AbortController().signal, graceIsOver: false };
    await deliver.deliver(delivery, to, stop, release);
    const isPosted = expected.outcome === 'delivered';
    expect(settled).toMatchObject([{ outcome: 'failed', revision: null, ...expected }]);
    expect(post).toHaveBeenCalledTimes(isPosted ? 1 : 0);
    // Without a request, nothing is known against the receiver.
    expect(release.mock.calls).toEqual([[true]]);
  });
});
