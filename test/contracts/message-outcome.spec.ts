import fc from 'fast-check';
import { messageOutcome, type Undelivered } from '#webhooks/domain/message-outcome.js';
import { resultOf, WebhookStore } from './webhook-store.js';

const ENDPOINTS = 3;

/** What happens to the delivery of a message to one of its endpoints. */
const steps = fc.array(
  fc.record({
    endpoint: fc.nat(ENDPOINTS - 1),
    what: fc.constantFrom(
      ...(['delivered', 'retried', 'failed', 'disable', 'enable', 'narrow', 'widen', 'abandon'] as const),
    ),
  }),
  { minLength: 3, maxLength: 12 },
);

/** Random steps rarely get there. */
const usedUpThen = (what: 'disable' | 'narrow'): [typeof steps extends fc.Arbitrary<infer Steps> ? Steps : never] => [
  [
    { endpoint: 0, what: 'failed' },
    { endpoint: 0, what },
    { endpoint: 1, what: 'delivered' },
    { endpoint: 2, what: 'delivered' },
  ],
];

describe('The statements that end messages for webhooks', () => {
  let webhooks: WebhookStore;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
  });
  afterAll(() => webhooks.close());

  /** What is stored of a message, as the domain decides about it. */
  async function decided(messageId: string) {
    const undelivered = await webhooks.store.sql<Undelivered>(
      `SELECT d.endpoint_id AS "endpointId", d.due_at IS NOT NULL AS "isLeft", d.abandoned,
              (SELECT enabled AND types = '{}' FROM sluice.endpoints e WHERE e.id = d.endpoint_id) AS "isWanted",
              (SELECT error FROM sluice.attempts a WHERE a.message_id = d.message_id AND a.target = d.endpoint_id
                 AND outcome = 'failed' ORDER BY number DESC LIMIT 1) AS error
       FROM sluice.endpoint_deliveries d WHERE message_id = $1`,
      [messageId],
    );
    const delivered = await webhooks.store.sql(
      `SELECT FROM sluice.attempts WHERE message_id = $1 AND outcome = 'delivered'`,
      [messageId],
    );
    return messageOutcome(undelivered, delivered.length > 0);
  }

  it('agree with the domain for random ends of deliveries', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (happening) => {
        await webhooks.reset();
        const account = await webhooks.account();
        const endpoints: string[] = [];
        for (let count = 0; count < ENDPOINTS; count++) endpoints.push(await webhooks.endpoint(account));
        const message = await webhooks.send(account, endpoints);
        let isOpen = true;
        for (const { endpoint, what } of happening) {
          const id = endpoints[endpoint] ?? '';
          if (what === 'enable' || what === 'disable') await webhooks.enable(id, what === 'enable');
          else if (what === 'narrow' || what === 'widen') await webhooks.choose(id, what === 'widen' ? [] : ['user.*']);
          else if (what === 'abandon') await webhooks.abandon(id, 'endpoint_disabled');
          else {
            const [leased] = await webhooks.lease([id]);
            if (leased === undefined) continue;
            await webhooks.deliveries.settle(resultOf(leased, what));
          }
          // An end is final: what happens to the endpoints afterwards does not change it.
          if (!isOpen || ['enable', 'disable', 'narrow', 'widen'].includes(what)) continue;
          const { status, failureReason } = await webhooks.see(message);
          const expected = await decided(message.id);
          isOpen = expected === null;
          if (expected === null) expect(status).toMatch(/^(queued|processing)$/);
          else expect({ failureReason: null, ...expected }).toEqual({ status, failureReason });
        }
      }),
      { numRuns: 40, examples: [usedUpThen('disable'), usedUpThen('narrow')] },
    );
  });
});
