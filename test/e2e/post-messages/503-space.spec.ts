import { accountOf, expectProblem, ownApi } from '../../support/api.js';
import { metricsOf } from '../../support/metrics.js';

describe('POST /messages, retries and replays respond 503 unavailable while the store has too little space', () => {
  const api = ownApi();
  const account = accountOf(api);

  it.each([
    ['the database is larger than MAX_DATABASE_MB', { MAX_DATABASE_MB: '1' }],
    ['its disk has less than MIN_FREE_DISK_MB', { DATABASE_DIR: '.', MIN_FREE_DISK_MB: '1000000000' }],
  ])('because %s, and repetitions get their first response', async (_why, settings) => {
    const headers = { 'idempotency-key': _why.replaceAll(' ', '-') };
    const first = await api.send(account, { headers });
    const full = await api.join(settings);
    const retried = await api.sent(account);
    await api.become(retried.id, 'failed');
    const endpoint = (await api.ask(account, 'POST /endpoints', { url: `https://example.com/${retried.id}` })).body;
    const ever = { since: new Date(0).toISOString(), until: '2100-01-01T00:00:00Z' };
    for (const response of [
      ...[await full.send(account), await full.sendBatch(account, { headers: {} })],
      await full.ask(account, `POST /messages/${retried.id}/retry`),
      await full.ask(account, 'POST /messages/retry', ever),
      await full.ask(account, `POST /endpoints/${String(endpoint.id)}/replay`, ever),
    ]) {
      expect(expectProblem(response, 503, 'unavailable').detail).toContain('space');
      expect(response.headers['retry-after']).toBe('30');
    }
    const again = await full.send(account, { headers });
    expect([again.status, again.headers['idempotent-replayed'], again.body]).toEqual([202, 'true', first.body]);
    expect((await full.ask(account, 'GET /messages')).status).toBe(200);
    expect((await metricsOf(full.managementUrl)).get('sluice_space_left_bytes')).toBeLessThan(0);
  });
});
