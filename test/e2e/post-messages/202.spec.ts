import { accountOf, sharedApi } from '../../support/api.js';
import { exchange, lines } from '../../support/http.js';

describe('POST /messages responds 202', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it('with exactly the four fields of the message, and its Location', async () => {
    const before = Date.now();
    const response = await api.send(account, { message: 'hello' });
    const { id, createdAt, ...rest } = response.body as { id: string; createdAt: string };

    expect(response.status).toBe(202);
    expect(id).toMatch(/^msg_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(rest).toEqual({ message: 'hello', status: 'queued' });
    expect(createdAt).toBe(new Date(createdAt).toISOString());
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now());
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      location: `/messages/${id}`,
    });
    expect(response.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('when the message is stored and its job is queued or on its way', async () => {
    const { id } = await api.sent(account);
    const queued = await api.isQueued(id);
    const rows = await api.sql('SELECT account_id, text, status FROM sluice.messages WHERE id = $1', [id]);

    expect(queued).toBe(true);
    expect(rows).toEqual([{ account_id: account.id, text: 'hello', status: 'queued' }]);
  });

  it('while the queue takes no jobs, and queues the message afterwards', async () => {
    const id = await api.during('LOCK TABLE bullmq.job', [], async () => (await api.sent(account)).id);
    await api.relayed(id);
  });

  it.each([
    ['emoji', '👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
    ['combining characters', 'e\u0301 \u00e9 \u212b'],
    ['blanks around it', ' \t\r\n hello \u00a0\u2003 '],
    ['control characters', '\u0001\u0007\u001b\u007f\u0085\u2028\u2029'],
    ['a byte order mark and a replacement character', '\ufeff\ufffd\uffff'],
    ['what JSON, SQL and HTML escape', `"\\/'; DROP TABLE messages; -- <b>&amp;%s\${x}`],
    ['right-to-left text', 'שלום \u202eabc'],
    ['262,144 bytes, three each', '€'.repeat(87_381) + 'a'],
    ['262,144 bytes, four each', '😀'.repeat(65_536)],
  ])('and returns a message byte for byte: %s', async (_name, message) => {
    const sent = await api.sent(account, { message });
    const read = await api.ask(account, `GET /messages/${sent.id}`);

    expect(sent.message === message).toBe(true);
    expect(read.body.message === message).toBe(true);
  });

  it.each([
    ['a pair of escaped surrogates', '{"message":"\\ud83d\\ude00"}', '😀'],
    ['unknown fields', '{"status":"failed","id":"mine","message":"x","more":{"message":"y"}}', 'x'],
    ['1,048,576 bytes in all', '{"message":"x"}'.padEnd(1_048_576), 'x'],
  ])('to a body with %s', async (_name, body, message) => {
    expect((await api.sent(account, { body })).message).toBe(message);
  });

  it.each([
    ['Content-Type', 'application/json'],
    ['Content-Type', 'Application/JSON'],
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Type', 'application/json;charset=UTF-8'],
    ['Content-Type', 'application/json ; Charset="Utf-8"'],
    ['Content-Encoding', 'identity'],
    ['Content-Encoding', 'Identity'],
    ['Authorization', 'bearer KEY'],
    ['Authorization', 'bEaReR KEY'],
  ])('to the header %s: %s', async (name, value) => {
    const headers = { [name.toLowerCase()]: value.replace('KEY', account.key) };
    expect((await api.send(account, { headers })).status).toBe(202);
  });

  it('to a body that comes in chunks, split within a character', async () => {
    const head = ['POST /messages HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${account.key}`];
    const framing = lines(...head, 'Content-Type: application/json', 'Transfer-Encoding: chunked');
    const [start, end] = [
      Buffer.from('{"message":"😀"}').subarray(0, 14),
      Buffer.from('{"message":"😀"}').subarray(14),
    ];
    const parts = [framing, 'e\r\n', start, `\r\n${end.length}\r\n`, end, '\r\n0\r\n\r\n'];
    const response = await exchange(api.url, Buffer.concat(parts.map((part) => Buffer.from(part))));

    expect(response.status).toBe(202);
    expect(response.body.message).toBe('😀');
  });
});
