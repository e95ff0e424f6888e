import { accountOf, expectProblem, sharedApi } from '../../support/api.js';
import { uncounted, type HttpResponse } from '../../support/http.js';

const INVALID_TOKEN = 'Bearer realm="sluice", error="invalid_token"';
const NO_TOKEN = 'Bearer realm="sluice"';

describe('POST /messages responds 401 unauthorized and stores nothing', () => {
  const api = sharedApi();
  const account = accountOf(api);

  async function expectRefused(
    authorization: string | string[] | undefined,
    challenge: string,
    path = '/messages',
  ): Promise<HttpResponse> {
    const response = await api.ask(null, `POST ${path}`, '{"message":"x"}', {
      authorization,
      'content-type': 'application/json',
      'x-request-id': 'same',
    });
    expectProblem(response, 401, 'unauthorized');
    expect(response.headers['www-authenticate']).toBe(challenge);
    expect(JSON.stringify(response.headers) + response.bytes.toString()).not.toContain(account.key);
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
    return response;
  }

  it('to a request without a key in its headers', async () => {
    await expectRefused(undefined, NO_TOKEN);
    for (const name of ['api_key', 'apiKey', 'access_token', 'authorization', 'key']) {
      await expectRefused(undefined, NO_TOKEN, `/messages?${name}=${account.key}`);
    }
  });

  it.each([
    ['nothing', () => ''],
    ['the scheme alone', () => 'Bearer'],
    ['the key alone', (key: string) => key],
    ['another scheme', (key: string) => `Basic ${key}`],
    ['Basic credentials', (key: string) => `Basic ${Buffer.from(`${key}:`).toString('base64')}`],
    ['a longer scheme', (key: string) => `Bearers ${key}`],
    ['no blank', (key: string) => `Bearer${key}`],
    ['a colon', (key: string) => `Bearer: ${key}`],
  ])('to %s in Authorization, where no token is presented', async (_name, authorization) => {
    await expectRefused(authorization(account.key), NO_TOKEN);
  });

  it.each([
    ['two blanks', (key: string) => `Bearer  ${key}`],
    ['a tab', (key: string) => `Bearer\t${key}`],
    ['text after the key', (key: string) => `Bearer ${key} more`],
    ['a comma after the key', (key: string) => `Bearer ${key},`],
    ['a parameter after the key', (key: string) => `Bearer ${key}, realm="sluice"`],
    ['quotes', (key: string) => `Bearer "${key}"`],
    ['the key in upper case', (key: string) => `Bearer ${key.toUpperCase()}`],
    ['half a key', (key: string) => `Bearer ${key.slice(0, 24)}`],
    ['a key and a half', (key: string) => `Bearer ${key}${key}`],
    ['characters beyond ASCII', () => 'Bearer é'],
    ['2,000 characters', () => `Bearer ${'a'.repeat(2_000)}`],
    ['the key twice, in two headers', (key: string) => [`Bearer ${key}`, `Bearer ${key}`]],
    ['the key and Basic, in two headers', (key: string) => [`Bearer ${key}`, 'Basic eA==']],
  ])('to %s in Authorization', async (_name, authorization) => {
    await expectRefused(authorization(account.key), INVALID_TOKEN);
  });

  it('in the same bytes to a malformed, an unknown, a revoked and an expired key', async () => {
    const [unknown, revoked, expired] = [await api.signUp(), await api.signUp(), await api.signUp()];
    await api.sql('DELETE FROM sluice.api_keys WHERE id = $1', [unknown.keyId]);
    await api.sql('UPDATE sluice.api_keys SET revoked_at = now() WHERE id = $1', [revoked.keyId]);
    await api.sql('UPDATE sluice.api_keys SET expires_at = now() WHERE id = $1', [expired.keyId]);

    const responses: string[] = [];
    for (const key of ['malformed', unknown.key, revoked.key, expired.key]) {
      const { headers, bytes } = await expectRefused(`Bearer ${key}`, INVALID_TOKEN);
      responses.push(JSON.stringify(uncounted(headers)) + bytes.toString());
    }
    expect(new Set(responses).size).toBe(1);
  });
});
