import { pino } from 'pino';
import { OPERATORS_KEY, Service, type NewKey, type SignedUp } from '../../support/accounts.js';
import { expectProblem } from '../../support/api.js';
import type { Answer } from '../../support/http.js';

const PEPPER = 'the pepper of a service, kept to itself';

describe('An API key', () => {
  const log: string[] = [];
  let service: Service;
  let account: SignedUp;
  let made: NewKey;

  beforeAll(async () => {
    const logger = pino({ level: 'trace' }, { write: (line: string) => log.push(line) });
    service = await Service.start({ LOG_LEVEL: 'trace', API_KEY_PEPPER: PEPPER }, logger);
    account = await service.signUp();
    made = await service.createKey(account.key);
  });
  afterAll(() => service.stop());

  const changed = (key: string, place: number) => {
    const other = key.at(place) === '0' ? '1' : '0';
    return key.slice(0, place) + other + key.slice(place + 1 || key.length);
  };
  const secrets = () => [account.key, made.key, OPERATORS_KEY, PEPPER];

  it.each([4, 20, 39, 43])('is unknown when its character %d is changed', async (place) => {
    expectProblem(await service.ask(changed(made.key, place), 'GET /messages'), 401, 'unauthorized');
    expect(await service.knows(made.key)).toBe(true);
  });

  it('is unknown in capitals, cut, lengthened or twice', async () => {
    const { key } = made;
    for (const other of [key.toUpperCase(), key.slice(0, -1), key.slice(4), `${key}0`, `${key},${key}`, key + key]) {
      expectProblem(await service.ask(other, 'GET /messages'), 401, 'unauthorized');
    }
  });

  it('is unknown under another pepper, and gets there what any key gets that was never issued', async () => {
    const other = await service.join({ API_KEY_PEPPER: `${PEPPER}!`, LOG_LEVEL: 'silent' });
    const headers = { 'x-request-id': 'same' };
    const answers = await Promise.all(
      [made.key, changed(made.key, 43), 'nonsense'].map((key) =>
        other.call({ path: '/messages', headers: { ...headers, authorization: `Bearer ${key}` } }),
      ),
    );
    for (const answer of answers) {
      expectProblem(answer, 401, 'unauthorized');
      expect(answer.bytes.toString()).toBe(answers[0]?.bytes.toString());
      expect(answer.headers['www-authenticate']).toBe(answers[0]?.headers['www-authenticate']);
    }
  });

  it('is in no error and in no line of the log, whatever happens', async () => {
    const { key } = made;
    const rotated = await service.createKey(account.key);
    await service.ask(account.key, `POST /api-keys/${rotated.id}/rotate`);
    await service.sql("ALTER TABLE sluice.api_keys ADD CHECK (name <> 'unstorable')");
    const errors: Answer[] = [
      await service.ask(rotated.key, 'GET /account'),
      await service.ask(changed(key, 30), 'GET /account'),
      await service.ask(changed(OPERATORS_KEY, 9), 'GET /admin/accounts'),
      await service.ask(key, `GET /messages/${key}`),
      await service.ask(key, `DELETE /api-keys/${key}`),
      await service.ask(key, `GET /nothing/${key}?key=${key}`),
      await service.ask(key, `PUT /account?key=${key}`),
      await service.ask(key, `GET /messages?cursor=${key}`),
      await service.ask(key, 'POST /messages', `{"message":1,"${key}":"${key}"}`),
      await service.ask(key, 'POST /messages', `{"message":"${key}`),
      await service.ask(key, 'POST /api-keys', { name: 'x', expiresAt: key, scopes: [key] }),
      await service.ask(key, 'POST /api-keys', { name: 'unstorable' }),
      await service.ask(OPERATORS_KEY, `GET /admin/accounts/${key}`),
    ];
    const stopped = await service.call({ path: `/%${key}`, headers: { authorization: `Bearer ${key}` } });

    const statuses = [401, 401, 401, 404, 404, 404, 405, 400, 400, 400, 400, 500, 404];
    expect(errors.map(({ status }) => status)).toEqual(statuses);
    const told = [...errors, stopped].map(({ headers, bytes }) => JSON.stringify(headers) + bytes.toString());
    expect(log.join('')).toContain('unexpected error');
    for (const secret of [...secrets(), rotated.key, changed(key, 30), changed(OPERATORS_KEY, 9)]) {
      for (const text of [...told, ...log]) expect(text).not.toContain(secret);
    }
  });
});
