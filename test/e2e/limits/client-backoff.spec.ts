import { Agent, RetryAgent, request } from 'undici';
import { bearer, LimitedApis } from '../../support/limits.js';

describe('a client library that honours Retry-After', () => {
  let limited: LimitedApis;
  const client = new RetryAgent(new Agent({ connections: 20 }), { minTimeout: 100, maxRetries: 3 });

  beforeAll(async () => {
    limited = await LimitedApis.start();
  });
  afterAll(async () => {
    await client.close();
    await limited.stop();
  });

  it('gets all its requests through, and its key is not banned', async () => {
    const holder = await limited.signUp();
    await limited.setWindows(holder, { minuteUsed: 50, minuteLeft: 1_500 });
    const answers = Array.from({ length: 60 }, async () => {
      const { statusCode, body } = await request(`${limited.url()}/account`, {
        ...{ dispatcher: client, headers: bearer(holder) },
      });
      await body.dump();
      return statusCode;
    });

    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    const offences = await limited.sql('SELECT strikes, bans FROM sluice.offences WHERE key_id = $1', [holder.keyId]);
    expect(offences).toEqual([{ strikes: 0, bans: 0 }]);
  });
});
