import { setTimeout as sleep } from 'node:timers/promises';
import { accountOf, expectProblem, ownApi, type Account, type TestApi } from '../../support/api.js';
import { metricsOf } from '../../support/metrics.js';
import { until } from '../../support/processes.js';

const LARGE = 'x'.repeat(262_144);

describe('POST /messages responds 507 storage_full', () => {
  const api = ownApi({ MAX_STORED_MB_PER_ACCOUNT: '1' });

  const send = ({ key }: Account, message = 'x', through: TestApi = api) =>
    through.ask(key, 'POST /messages', { message });
  const becomes = (status: number, account: Account, through?: TestApi) =>
    until(async () => (await send(account, 'x', through)).status === status, 15_000);
  const stored = async ({ id }: Account) => {
    const [row] = await api.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM sluice.messages WHERE account_id = $1',
      [id],
    );
    return row?.count ?? 0;
  };
  const full = async () => {
    const account = await api.signUp();
    await Promise.all(Array.from({ length: 4 }, () => send(account, LARGE)));
    await becomes(507, account);
    return account;
  };
  const makeRoom = ({ id }: Account) => api.sql('DELETE FROM sluice.storage WHERE account_id = $1', [id]);

  it('soon after the account has stored as much as it may, and stores nothing', async () => {
    const account = await full();
    const before = await stored(account);
    const answer = await api.send(account, { headers: { 'idempotency-key': 'key' } });

    expect(expectProblem(answer, 507, 'storage_full').detail).toContain('1 MiB');
    expect(answer.headers).not.toHaveProperty('retry-after');
    expect(await stored(account)).toBe(before);
    const keys = await api.sql('SELECT FROM sluice.idempotency_keys WHERE account_id = $1', [account.id]);
    expect(keys).toEqual([]);
  });

  it('before it reads the body, and after it has counted the request', async () => {
    const account = await full();
    const answer = await api.ask(account.key, 'POST /messages', '{');
    const next = await api.ask(account.key, 'POST /messages', '{');
    expectProblem(next, 507, 'storage_full');
    const [first, second] = [answer, next].map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    expect(second).toBe((first ?? 0) - 1);
  });

  it('to this account alone, which may still do all else', async () => {
    const account = await full();
    expect((await send(await api.signUp())).status).toBe(202);
    expect((await api.ask(account.key, 'GET /messages')).status).toBe(200);
    const usage = (await api.ask(account.key, 'GET /account/usage')).body as {
      storage: { limitBytes: number; usedBytes: number };
    };
    expect(usage.storage.limitBytes).toBe(1_048_576);
    expect(usage.storage.usedBytes).toBeGreaterThan(1_048_576);
  });

  it('no more, soon after room was made', async () => {
    const account = await full();
    await makeRoom(account);
    const removedAt = performance.now();
    await becomes(202, account);
    // Five seconds are promised; the rest is for a machine that has other things to do.
    expect(performance.now() - removedAt).toBeLessThan(12_000);
  });

  it('through every process, also through one that was started later', async () => {
    const other = await api.join();
    const account = await full();
    await becomes(507, account, other);
    const started = await api.join();
    expect((await send(account, 'x', started)).status).toBe(202);
    await becomes(507, account, started);
  });

  it('and counts what a process took in right before it was stopped', async () => {
    const account = await api.signUp();
    const stopping = await api.join();
    await Promise.all(Array.from({ length: 4 }, () => send(account, LARGE, stopping)));
    await stopping.stop();
    const [row] = await api.sql('SELECT bytes::int, messages::int FROM sluice.storage WHERE account_id = $1', [
      account.id,
    ]);
    expect(row).toEqual({ bytes: 4 * (262_144 + 256), messages: 4 });
  });

  it('in no case to a repetition that stores nothing, for which nothing is counted', async () => {
    const account = await api.signUp();
    for (let attempt = 0; attempt < 6; attempt++) {
      await api.send(account, { message: LARGE, headers: { 'idempotency-key': 'once' } });
    }
    await sleep(1_500);
    expect((await send(account)).status).toBe(202);
    const [row] = await api.sql('SELECT bytes::int FROM sluice.storage WHERE account_id = $1', [account.id]);
    expect(row).toEqual({ bytes: 262_144 + 256 });
  });

  it('as often as a metric tells', async () => {
    const account = await full();
    const count = async () => (await metricsOf(api.managementUrl)).get('sluice_storage_refusals_total') ?? NaN;
    const before = await count();
    await Promise.all(Array.from({ length: 3 }, () => send(account)));
    expect(await count()).toBe(before + 3);
  });
});

describe('POST /messages with MAX_STORED_MB_PER_ACCOUNT=0', () => {
  const api = ownApi({ MAX_STORED_MB_PER_ACCOUNT: '0' });
  const account = accountOf(api);

  it('knows no cap', async () => {
    await api.sent(account, { message: 'x' });
    await until(
      async () => (await api.sql('SELECT FROM sluice.storage WHERE account_id = $1', [account.id])).length > 0,
      15_000,
    );
    const { storage } = (await api.ask(account, 'GET /account/usage')).body;
    expect(storage).toEqual({ limitBytes: null, usedBytes: 257 });
  });
});
