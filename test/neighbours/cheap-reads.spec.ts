import { autocannon } from '../support/autocannon.js';
import { Fleet } from '../support/fleet.js';
import { goodClient, SECONDS } from '../support/good-client.js';
import { inTime } from '../support/http.js';

const CONNECTIONS = 1_000;
/** A number of requests instead of seconds, in which a busy machine may answer none. */
const LOAD = ['-c', CONNECTIONS, '-a', 4 * CONNECTIONS] as const;

describe('Reads of one account on 1,000 busy connections', () => {
  let fleet: Fleet;
  let sendsPerSecond: number;
  let ids: string[];
  beforeAll(async () => {
    // Without backpressure.
    fleet = await Fleet.startProcesses({ MAX_WAIT_MS: '60000' });
    const { client, account } = fleet;
    ids = await Promise.all(Array.from({ length: 20 }, async () => (await client.sent(account)).id));
    await client.ask(account, 'POST /api-keys', { name: 'another' });
    const send = ['-m', 'POST', '-b', '{"message":"hello"}', '-H', 'content-type=application/json'];
    const report = await autocannon(`${client.url}/messages`, account.key, ...LOAD, ...send);
    sendsPerSecond = rateOf(report);
  }, 300_000);
  afterAll(() => fleet.stop());

  const rateOf = ({ statusCodeStats, duration }: Awaited<ReturnType<typeof autocannon>>) =>
    Math.round((statusCodeStats[202] ?? statusCodeStats[200] ?? { count: 0 }).count / duration);

  it.each(['/account', '/account/usage', '/api-keys', '/endpoints', '/messages/:id'])(
    'get 200, none refused: GET %s',
    async (path) => {
      const { client, account } = fleet;
      const url = `${client.url}${path.replace(':id', ids[0] ?? '')}`;
      const report = await autocannon(url, account.key, ...LOAD);
      const rate = rateOf(report);
      process.stdout.write(
        `${path}: ${rate} a second, ${sendsPerSecond} sends, ${JSON.stringify(report.statusCodeStats)}\n`,
      );
      const late = report.statusCodeStats[503]?.count ?? 0;
      // On a busy machine, a key may not be verified again soon enough.
      expect(late).toBeLessThan(0.25 * (report.statusCodeStats[200]?.count ?? 0));
    },
    240_000,
  );

  it('of 20 messages in rotation are not refused', async () => {
    const { client, account } = fleet;
    const responses = await Promise.all(
      Array.from({ length: CONNECTIONS }, (_, index) =>
        inTime(() => client.ask(account, `GET /messages/${ids[index % 20] ?? ''}`)),
      ),
    );
    expect(responses.filter(({ status }) => status !== 200)).toEqual([]);
    expect(responses.map(({ body }) => body.id)).toEqual(responses.map((_, index) => ids[index % 20]));
  });

  it('beside greedy lists of another account, a good caller is served', async () => {
    const { client, account } = fleet;
    const greedy = await client.signUp();
    await client.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
       SELECT 'msg_' || lpad(n::text, 26, '0'), $1, 'hello', 'delivered', now(), now() FROM generate_series(1, 20000) n`,
      [greedy.id],
    );
    const alone = await goodClient(client.url, account.key);
    const lists = autocannon(`${client.url}/messages?limit=100`, greedy.key, '-c', 20, '-d', SECONDS + 3);
    const beside = await goodClient(client.url, account.key);
    const { statusCodeStats } = await lists;
    process.stdout.write(`${JSON.stringify({ alone, beside, statusCodeStats })}\n`);
    expect(Object.keys(beside.statuses)).toEqual(['202']);
    expect(statusCodeStats[200]?.count).toBeGreaterThan(0);
  }, 180_000);
});
