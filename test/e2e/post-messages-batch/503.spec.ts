import { accountForEach, expectProblem, ownApi } from '../../support/api.js';
import { Link } from '../../support/link.js';

const TEXTS = Array.from({ length: 300 }, (_, index) => `of a batch ${index}`);

describe('POST /messages/batch responds 503 unavailable', () => {
  const link = new Link();
  const api = ownApi({}, link);
  const account = accountForEach(api);

  const send = () => api.sendBatch(account, { messages: TEXTS, headers: { 'idempotency-key': 'key' } });

  it('while the database is away, and 202 when it is back', async () => {
    await link.cut();
    const answer = await send();
    await link.restore();

    expectProblem(answer, 503, 'unavailable');
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
    expect((await send()).status).toBe(202);
  });

  it('when the store is lost half-way, which leaves nothing, and 202 when it is back', async () => {
    await api.sql(`
      CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END $$;
      CREATE TRIGGER dawdle BEFORE INSERT ON sluice.messages FOR EACH ROW EXECUTE FUNCTION dawdle()`);
    const sent = send();
    await new Promise((resolve) => setTimeout(resolve, 500));
    await api.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE '%INSERT INTO sluice.messages%' AND pid <> pg_backend_pid()`);
    expectProblem(await sent, 503, 'unavailable');
    await api.sql('DROP FUNCTION dawdle CASCADE');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
    expect((await send()).status).toBe(202);
    expect(await api.stored(account)).toEqual({ messages: 300, keys: 1 });
  });

  it('when the answer to the commit was lost, and then replays what was stored', async () => {
    link.loseAnswerTo('of a batch 7');
    expectProblem(await send(), 503, 'unavailable');
    const again = await send();
    expect(again.status).toBe(202);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await api.stored(account)).toEqual({ messages: 300, keys: 1 });
  });
});
