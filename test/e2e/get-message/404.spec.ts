import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('GET /messages/:id responds 404 message_not_found', () => {
  const api = sharedApi();
  const account = accountOf(api);
  const other = accountOf(api);
  let id: string;
  beforeAll(async () => {
    id = (await api.sent(account)).id;
  });

  it("to another account's id, in the bytes that an unknown id gets", async () => {
    const headers = { 'x-request-id': 'same' };
    const unknown = await api.ask(other, 'GET /messages/msg_01h455vb4pex5vsknk084sn02q', undefined, headers);
    const hidden = await api.ask(other, `GET /messages/${id}`, undefined, headers);

    expectProblem(hidden, 404, 'message_not_found');
    expect(hidden.bytes.equals(unknown.bytes)).toBe(true);
    expect((await api.ask(account, `GET /messages/${id}`)).status).toBe(200);
  });

  it.each([
    ['in upper case', () => id.toUpperCase()],
    ['with a character more', () => `${id}0`],
    ['with a character less', () => id.slice(0, -1)],
    ['without its prefix', () => id.slice(4)],
    ['with another prefix', () => id.replace('msg_', 'acct_')],
    ['and U+0000', () => `${id}%00`],
    ['and a line break', () => `${id}%0d%0a`],
    ['and a blank', () => `${id}%20`],
    ['as a pattern', () => 'msg_%25'],
    ['and SQL', () => `${id}'%20OR%20'1'='1`],
  ])('to an id %s', async (_name, variant) => {
    expectProblem(await api.ask(account, `GET /messages/${variant()}`), 404, 'message_not_found');
  });

  it.each([
    ['U+0000', '%00'],
    ['a dot', '.'],
    ['two dots', '..'],
    ['encoded dots', '%2e%2e'],
    ['an encoded slash', 'a%2Fcancel'],
    ['emoji', '%F0%9F%98%80'],
    ['a lone percent sign', '%25'],
    ['a name of Object.prototype', '__proto__'],
    ['15,000 characters', 'a'.repeat(15_000)],
  ])('to %s as the id', async (_name, odd) => {
    expectProblem(await api.ask(account, `GET /messages/${odd}`), 404, 'message_not_found');
  });

  it('and does not repeat the id', async () => {
    const answer = await api.ask(account, 'GET /messages/%3Cscript%3E');
    expect(JSON.stringify(answer.body)).not.toContain('script');
  });
});
