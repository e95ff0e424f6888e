import { accountOf, expectProblem, OPERATOR, ownApi, type NewKey } from '../../support/api.js';
import type { Answer } from '../../support/http.js';

const PEPPER = 'the pepper of a service, kept to itself';

describe('An API key', () => {
  const api = ownApi({ LOG_LEVEL: 'trace', API_KEY_PEPPER: PEPPER });
  const account = accountOf(api);
  let made: NewKey;
  beforeAll(async () => {
    made = await api.createKey(account.key);
  });

  const changed = (key: string, place: number) => {
    const other = key.at(place) === '0' ? '1' : '0';
    return key.slice(0, place) + other + key.slice(place + 1 || key.length);
  };
  const secrets = () => [account.key, made.key, OPERATOR.key, PEPPER];

  it.each([4, 20, 39, 43])('is unknown when its character %d is changed', async (place) => {
    expectProblem(await api.ask(changed(made.key, place), 'GET /messages'), 401, 'unauthorized');
    expect(await api.knows(made.key)).toBe(true);
  });

  it('is unknown in capitals, cut, lengthened or twice', async () => {
    const { key } = made;
    for (const other of [key.toUpperCase(), key.slice(0, -1), key.slice(4), `${key}0`, `${key},${key}`, key + key]) {
      expectProblem(await api.ask(other, 'GET /messages'), 401, 'unauthorized');
    }
  });

  it('is unknown under another pepper, and gets there what any key gets that was never issued', async () => {
    const other = await api.join({ API_KEY_PEPPER: `${PEPPER}!`, LOG_LEVEL: 'silent' });
    const headers = { 'x-request-id': 'same' };
    const answers = await Promise.all(
      [made.key, changed(made.key, 43), 'nonsense'].map((key) => other.ask(key, 'GET /messages', undefined, headers)),
    );
    for (const answer of answers) {
      expectProblem(answer, 401, 'unauthorized');
      expect(answer.bytes.toString()).toBe(answers[0]?.bytes.toString());
      expect(answer.headers['www-authenticate']).toBe(answers[0]?.headers['www-authenticate']);
    }
  });

  it('is in no error and in no line of the log, whatever happens', async () => {
    const { key } = made;
    const rotated = await api.createKey(account.key);
    await api.ask(account.key, `POST /api-keys/${rotated.id}/rotate`);
    await api.sql("ALTER TABLE sluice.api_keys ADD CHECK (name <> 'unstorable')");
    const errors: Answer[] = [
      await api.ask(rotated.key, 'GET /account'),
      await api.ask(changed(key, 30), 'GET /account'),
      await api.ask(changed(OPERATOR.key, 9), 'GET /admin/accounts'),
      await api.ask(key, `GET /messages/${key}`),
      await api.ask(key, `DELETE /api-keys/${key}`),
      await api.ask(key, `GET /nothing/${key}?key=${key}`),
      await api.ask(key, `PUT /account?key=${key}`),
      await api.ask(key, `GET /messages?cursor=${key}`),
      await api.ask(key, 'POST /messages', `{"message":1,"${key}":"${key}"}`),
      await api.ask(key, 'POST /messages', `{"message":"${key}`),
      await api.ask(key, 'POST /api-keys', { name: 'x', expiresAt: key, scopes: [key] }),
      await api.ask(key, 'POST /api-keys', { name: 'unstorable' }),
      await api.ask(OPERATOR, `GET /admin/accounts/${key}`),
    ];
    const stopped = await api.ask(null, `GET /%${key}`, undefined, { authorization: `Bearer ${key}` });

    const statuses = [401, 401, 401, 404, 404, 404, 405, 400, 400, 400, 400, 500, 404];
    expect(errors.map(({ status }) => status)).toEqual(statuses);
    const told = [...errors, stopped].map(({ headers, bytes }) => JSON.stringify(headers) + bytes.toString());
    const log = api.log();
    expect(log.join('')).toContain('unexpected error');
    for (const secret of [...secrets(), rotated.key, changed(key, 30), changed(OPERATOR.key, 9)]) {
      for (const text of [...told, ...log]) expect(text).not.toContain(secret);
    }
  });
});
