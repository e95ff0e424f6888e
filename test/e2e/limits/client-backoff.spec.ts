import { Agent, RetryAgent, request } from 'undici';
import { sharedApi } from '../../support/api.js';
import { setWindows } from '../../support/limits.js';

describe('a client library that honours Retry-After', () => {
  const api = sharedApi();

  const client = new RetryAgent(new Agent({ connections: 20 }), { minTimeout: 100, maxRetries: 3 });

  afterAll(() => client.close());

  it('gets all its requests through, and its key is not banned', async () => {
    const holder = await api.signUp('free');
    await setWindows(api, holder, { minuteUsed: 50, minuteLeft: 1_500 });
    const answers = Array.from({ length: 60 }, async () => {
      const { statusCode, body } = await request(`${api.url}/account`, {
        ...{ dispatcher: client, headers: { authorization: `Bearer ${holder.key}` } },
      });
      await body.dump();
      return statusCode;
    });

    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    const offences = await api.sql('SELECT strikes, bans FROM sluice.offences WHERE key_id = $1', [holder.keyId]);
    expect(offences).toEqual([{ strikes: 0, bans: 0 }]);
  });
});
