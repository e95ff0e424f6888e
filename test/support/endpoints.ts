import type { Endpoint } from '#webhooks/domain/endpoint.js';
import { SENT_AT } from './messages.js';

/** An enabled endpoint that has never failed, but for what is given. */
export function anEndpoint(endpoint: Partial<Endpoint> = {}): Endpoint {
  return {
    ...{ id: 'ep_1', accountId: 'acct_1', url: 'https://example.com/', description: '', rateLimitPerSecond: 0 },
    ...{ enabled: true, createdAt: SENT_AT, disabledAt: null, disabledReason: null },
    ...{ failingSince: null, failingUntil: null, revision: 0, types: [], headerNames: [] },
    ...endpoint,
  };
}
