import fc from 'fast-check';
import { matchesType } from '#messages/domain/type-pattern.js';
import { WebhookStore } from './webhook-store.js';

// Few words, so that patterns and types often meet.
const words = fc.array(fc.constantFrom('a', 'b', 'ab', 'sluice'), { minLength: 1, maxLength: 4 });
const types = fc.option(words.map((all) => all.join('.')));
const patterns = fc.array(
  fc.oneof(
    { weight: 1, arbitrary: fc.constant('*') },
    { weight: 4, arbitrary: words.map((all) => all.join('.')) },
    { weight: 4, arbitrary: words.map((all) => `${all.join('.')}.*`) },
  ),
  { maxLength: 3 },
);

describe('The endpoints that a statement finds for a type', () => {
  let webhooks: WebhookStore;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
  });
  afterAll(() => webhooks.close());

  it('are those whose patterns match it by the rule of the domain', async () => {
    const cases = fc.sample(fc.tuple(patterns, types), 3_000);
    const accountId = await webhooks.account();
    const endpoint = await webhooks.endpoint(accountId);
    const wanted: boolean[] = [];
    for (const [given, type] of cases) {
      await webhooks.store.sql('UPDATE sluice.endpoints SET types = $2 WHERE id = $1', [endpoint, given]);
      const found = await webhooks.store.sql(
        'SELECT FROM sluice.enabled_endpoints WHERE account_id = $1 AND types && sluice.type_patterns($2)',
        [accountId, type],
      );
      wanted.push(found.length > 0);
    }
    const expected = cases.map(([given, type]) => matchesType(given, type));
    const wrong = cases.filter((_case, index) => wanted[index] !== expected[index]);
    expect(wrong).toEqual([]);
    expect(new Set(wanted)).toEqual(new Set([true, false]));
  });
});
