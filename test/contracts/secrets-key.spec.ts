import { openSecretBox } from '#webhooks/adapters/postgres/open-secret-box.js';
import { PostgresEndpoints } from '#webhooks/adapters/postgres/postgres-endpoints.js';
import type { WebhooksSettings } from '#webhooks/settings.js';
import { WebhookStore } from './webhook-store.js';

const REFUSED = /^SECRETS_KEY lacks a key under which this installation encrypts .*\([0-9a-f]{8}\)\. Add it\./;

/** A key for each letter. */
const settings = (keys: string) =>
  ({ secretsKeys: keys.split('').map((letter) => Buffer.alloc(32, letter)) }) as unknown as WebhooksSettings;

describe('A process with SECRETS_KEY', () => {
  let webhooks: WebhookStore;
  let endpoints: PostgresEndpoints;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
    endpoints = await PostgresEndpoints.open(webhooks.process.database);
  });
  beforeEach(async () => {
    await webhooks.reset();
    await webhooks.store.sql('DELETE FROM sluice.endpoints');
    await webhooks.store.sql(`DELETE FROM sluice.installation WHERE name = 'secrets_key'`);
  });
  afterAll(() => webhooks.close());

  const start = (keys: string) => openSecretBox(settings(keys), endpoints, webhooks.process.database);
  const outcome = (keys: string) =>
    start(keys).then(
      () => 'starts',
      (error: unknown) => (error as Error).message,
    );
  const sealUnder = async (keys: string) => {
    const id = await webhooks.endpoint(await webhooks.account());
    const box = await start(keys);
    const secrets = JSON.stringify([{ sealed: box.seal(Buffer.from('secret'), id), expiresAt: null }]);
    await webhooks.store.sql('UPDATE sluice.endpoints SET secrets = $2 WHERE id = $1', [id, secrets]);
  };

  it.each([
    ['', '', true],
    ['', 'a', true],
    ['a', '', true],
    ['a', 'a', true],
    ['a', 'b', false],
    ['a', 'ab', true],
    ['a', 'ba', true],
    ['ab', 'a', true],
    ['ab', 'b', false],
    ['ba', 'b', true],
    ['ba', 'a', false],
    ['ba', 'ab', true],
    ['a', 'bc', false],
  ])('before there are endpoints: after one with "%s", "%s" starts: %p', async (before, keys, starts) => {
    await start(before);
    expect(await outcome(keys)).toMatch(starts ? 'starts' : REFUSED);
  });

  it.each([
    ['a', '', false],
    ['a', 'a', true],
    ['a', 'b', false],
    ['a', 'ab', true],
    ['a', 'ba', true],
    ['ba', 'b', true],
    ['ba', 'a', false],
  ])('when "%s" has encrypted a secret: "%s" starts: %p', async (before, keys, starts) => {
    await sealUnder(before);
    expect(await outcome(keys)).toMatch(starts ? 'starts' : REFUSED);
  });

  it('is refused without a trace, in a database of the version before', async () => {
    await sealUnder('a');
    await webhooks.store.sql(`DELETE FROM sluice.installation WHERE name = 'secrets_key'`);
    expect(await outcome('b')).toMatch(REFUSED);
    expect(await outcome('a')).toBe('starts');
  });

  it('is alone with it when several with different ones start at the same time', async () => {
    const outcomes = await Promise.all(['a', 'b', 'c'].map(outcome));
    expect(outcomes.filter((one) => one === 'starts')).toHaveLength(1);
    expect(outcomes.filter((one) => REFUSED.test(one))).toHaveLength(2);
  });

  it('changes it while all others run, and none restarts in vain', async () => {
    const steps = ['a', 'a', 'ab', 'a', 'ab', 'ab', 'ba', 'ab', 'ba', 'ba', 'b', 'ba', 'b', 'b'];
    for (const keys of steps) expect([keys, await outcome(keys)]).toEqual([keys, 'starts']);
    expect(await outcome('a')).toMatch(REFUSED);
  });
});
