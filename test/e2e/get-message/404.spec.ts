import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

const ROUTES = ['GET /messages/ID', 'GET /messages/ID/attempts', 'POST /messages/ID/cancel', 'POST /messages/ID/retry'];
const UNKNOWN = 'msg_01h455vb4pex5vsknk084sn02q';

describe('Routes of a message respond 404 message_not_found', () => {
  const api = sharedApi();
  const account = accountOf(api);
  const other = accountOf(api);
  let id: string;
  beforeAll(async () => {
    id = (await api.sent(account)).id;
  });

  it.each(ROUTES)("to another account's id, in the same bytes as to an unknown id: %s", async (route) => {
    await api.become(id, route.endsWith('retry') ? 'failed' : 'queued');
    const before = await api.ask(account, `GET /messages/${id}`);
    const headers = { 'x-request-id': 'same' };
    const unknown = await api.ask(other, route.replace('ID', UNKNOWN), undefined, headers);
    const hidden = await api.ask(other, route.replace('ID', id), undefined, headers);

    expectProblem(hidden, 404, 'message_not_found');
    expect(hidden.bytes.equals(unknown.bytes)).toBe(true);
    expect((await api.ask(account, `GET /messages/${id}`)).bytes.equals(before.bytes)).toBe(true);
  });

  it.each([
    ['in upper case', () => id.toUpperCase()],
    ['with a character more', () => `${id}0`],
    ['without its prefix', () => id.slice(4)],
    ['with another prefix', () => id.replace('msg_', 'acct_')],
    ['with U+0000', () => `${id}%00`],
    ['with a line break', () => `${id}%0d%0a`],
    ['with SQL', () => `${id}'%20OR%20'1'='1`],
    ['that is U+0000', () => '%00'],
    ['that is a pattern', () => 'msg_%25'],
    ['that is an encoded slash', () => 'a%2Fcancel'],
    ['that is emoji', () => '%F0%9F%98%80'],
    ['that is a name of Object.prototype', () => '__proto__'],
    ['of 15,000 characters', () => 'a'.repeat(15_000)],
  ])('to an id %s', async (_name, variant) => {
    for (const route of ROUTES) {
      expectProblem(await api.ask(account, route.replace('ID', variant())), 404, 'message_not_found');
    }
  });

  it.each(['.', '..', '%2e%2e'])('to the id %s, which is no relative path', async (dots) => {
    expectProblem(await api.ask(account, `GET /messages/${dots}`), 404, 'message_not_found');
  });

  it('without repeating the id', async () => {
    const response = await api.ask(account, 'GET /messages/%3Cscript%3E');
    expect(JSON.stringify(response.body)).not.toContain('script');
  });
});
