import { expectProblem, ownApi, statusesOf } from '../../support/api.js';
import { lines, RawConnection } from '../../support/http.js';

const PER_HOUR = 5;

describe('POST /accounts responds 429 rate_limit_exceeded', () => {
  const api = ownApi({ SIGNUPS_PER_HOUR: String(PER_HOUR), TRUST_PROXY: '127.0.0.1' });
  let address: string;
  let tests = 0;
  beforeEach(() => {
    address = `192.0.2.${++tests}`;
  });

  const signUp = (name: string, from = address, body = JSON.stringify({ name })) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': from };
    return api.ask(null, 'POST /accounts', body, headers);
  };
  const signUps = (count: number, name: string) =>
    Promise.all(Array.from({ length: count }, () => signUp(name, address)));

  it('to all but the first few from one address before it reads their bodies', async () => {
    const body = '{"name":"at once"}';
    const head = ['POST /accounts HTTP/1.1', 'Host: sluice', 'Content-Type: application/json', 'Expect: 100-continue'];
    const ofBody = [`Content-Length: ${body.length}`, `X-Forwarded-For: ${address}`];
    const connections = await Promise.all(Array.from({ length: 20 }, () => RawConnection.open(api.url)));
    const exchange = async (connection: RawConnection) => {
      connection.write(lines(...head, ...ofBody));
      const first = await connection.response();
      if (first.status !== 100) return [first];
      connection.write(body);
      return [first, await connection.response()];
    };
    const responses = await Promise.all(connections.map(exchange));
    for (const connection of connections) connection.close();

    const few = Array<number>(PER_HOUR);
    expect(statusesOf(responses.flat())).toEqual([...few.fill(100), ...few.fill(201), ...Array<number>(15).fill(429)]);
    const stored = await api.sql("SELECT id FROM sluice.accounts WHERE name = 'at once'");
    expect(stored).toHaveLength(PER_HOUR);
  });

  it('with the window of sign-ups, and when it ends', async () => {
    await signUps(PER_HOUR, 'before');
    const response = await signUp('after');
    const retryAfter = Number(response.headers['retry-after']);
    const resetsIn = Number(response.headers['x-ratelimit-reset']) - Date.now() / 1_000;

    expectProblem(response, 429, 'rate_limit_exceeded');
    expect(retryAfter).toBeGreaterThan(3_540);
    expect(retryAfter).toBeLessThanOrEqual(3_600);
    expect(Math.abs(resetsIn - retryAfter)).toBeLessThan(10);
    expect(response.headers).toMatchObject({
      'x-ratelimit-limit': String(PER_HOUR),
      'x-ratelimit-remaining': '0',
      'ratelimit-policy': `"signup";q=${PER_HOUR};w=3600`,
      ratelimit: `"signup";r=0;t=${retryAfter}`,
    });
  });

  it('to an address in any spelling, and to a /64', async () => {
    const spellings = [
      '198.51.100.1:1024',
      '198.51.100.1:1025',
      '[198.51.100.1]',
      '::ffff:198.51.100.1',
      '"198.51.100.1"',
    ];
    const network = [
      '[2001:db8::1]:443',
      '[2001:DB8::2]:443',
      '2001:db8:0:0::3',
      '2001:db8::4%eth0',
      '"[2001:db8::5]"',
    ];
    for (const from of [...spellings, ...network]) expect((await signUp('spelled', from)).status).toBe(201);
    for (const from of ['198.51.100.1', '2001:db8::6'])
      expectProblem(await signUp('no', from), 429, 'rate_limit_exceeded');
  });

  it('before it reads the body', async () => {
    await signUps(PER_HOUR, 'before');
    for (const body of ['', '{', '{"name":1}']) {
      expectProblem(await signUp('', address, body), 429, 'rate_limit_exceeded');
    }
  });

  it('to all addresses of an IPv6 customer together', async () => {
    const responses = await Promise.all(Array.from({ length: 8 }, (_, n) => signUp('v6', `2001:db8:0:1::${n + 1}`)));
    expect(statusesOf(responses)).toEqual([201, 201, 201, 201, 201, 429, 429, 429]);
    expect((await signUp('v6', '2001:db8:0:2::1')).status).toBe(201);
  });

  it('to all networks of an IPv6 /48 together, with the window that they share', async () => {
    const from = (network: number) => signUp('v6', `2001:db8:1:${network.toString(16)}::1`);
    const responses = await Promise.all(Array.from({ length: 10 * PER_HOUR + 2 }, (_, n) => from(n)));
    expect(statusesOf(responses).slice(-3)).toEqual([201, 429, 429]);
    expect((await from(0xffff)).headers).toMatchObject({ 'x-ratelimit-limit': `${10 * PER_HOUR}` });
  });

  it.each([
    ['invalid', '', 400],
    ['not stored', 'unstorable', 500],
  ])('without counting what was %s', async (_name, name, status) => {
    await api.sql("ALTER TABLE sluice.accounts ADD CHECK (name <> 'unstorable')");
    for (let count = 0; count <= PER_HOUR; count++) expect((await signUp(name)).status).toBe(status);
    expect(statusesOf(await signUps(PER_HOUR, 'valid'))).toEqual(Array(PER_HOUR).fill(201));
  });

  describe('without counting what repeats a sign-up with its Idempotency-Key', () => {
    const repeated = (key: string, from = address, name = 'repeated') => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': from, 'idempotency-key': key };
      return api.ask(null, 'POST /accounts', JSON.stringify({ name }), headers);
    };

    it('one after another, and when the others are used up', async () => {
      const first = await repeated('one');
      for (let count = 0; count < PER_HOUR; count++) expect((await repeated('one')).body).toEqual(first.body);
      expect(statusesOf(await signUps(PER_HOUR, 'others'))).toEqual([201, 201, 201, 201, 429]);
      expect((await repeated('one')).body).toEqual(first.body);
    });

    it('at once', async () => {
      const responses = await Promise.all(Array.from({ length: PER_HOUR }, () => repeated('one')));
      expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
      expect(statusesOf(await signUps(PER_HOUR, 'others'))).toEqual([201, 201, 201, 201, 429]);
    });

    it('but with any other key, name or address', async () => {
      await repeated('one');
      expect((await repeated('one', address, 'other')).status).toBe(422);
      expect((await repeated('one', '203.0.113.1')).status).toBe(201);
      for (let count = 1; count < PER_HOUR; count++) expect((await repeated(`other-${count}`)).status).toBe(201);
      expectProblem(await repeated('another'), 429, 'rate_limit_exceeded');
    });

    it('unless it failed', async () => {
      expect((await repeated('one', address, '')).status).toBe(400);
      await signUps(PER_HOUR, 'others');
      expectProblem(await repeated('one'), 429, 'rate_limit_exceeded');
    });
  });
});
