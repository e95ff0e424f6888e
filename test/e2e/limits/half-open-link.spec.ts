import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../support/http.js';
import { tally } from '../../support/limits.js';
import { ownApi, type Account } from '../../support/api.js';
import { until } from '../../support/processes.js';
import { Link } from '../../support/link.js';

describe('a key that is revoked while the link to the database hangs', () => {
  const link = new Link();
  const api = ownApi({}, link);
  let holder: Account;
  beforeEach(async () => {
    holder = await api.signUp({ perMinute: 100_000, perDay: 1_000_000 });
  });

  /** As another process does it. */
  const revoke = () => api.sql('UPDATE sluice.api_keys SET revoked_at = now() WHERE id = $1', [holder.keyId]);

  it('gets no success from a second later on, not even when the link is back', async () => {
    const answers: { at: number; answer: Answer }[] = [];
    let ended = false;
    const caller = async (method: string) => {
      while (!ended) {
        const answer = await (method === 'POST' ? api.send(holder) : api.ask(holder, `${method} /account`));
        answers.push({ at: performance.now(), answer });
        if (answer.status >= 400) await sleep(20);
      }
    };
    const callers = ['GET', 'GET', 'HEAD', 'POST', 'POST', 'GET'].map(caller);
    await until(() => answers.length > 30, 10_000);
    link.stall();
    await revoke();
    const deadline = performance.now() + 1_000;
    await sleep(1_500);
    link.resume();
    await sleep(700);
    ended = true;
    await Promise.all(callers);

    const late = tally(answers.filter(({ at }) => at > deadline).map(({ answer }) => answer));
    expect(Object.keys(late).filter((kind) => kind.startsWith('2'))).toEqual([]);
    expect(late['401 unauthorized']).toBeGreaterThan(0);
  });

  it('is told that the outcome is unknown, of what passed before', async () => {
    await api.ask(holder);
    const release = await api.hold('LOCK TABLE sluice.messages');
    const sending = api.ask(holder, 'POST /messages', '{"message":"x"}');
    await sleep(200);
    await revoke();
    await sleep(1_000);
    await release();
    const { status, body, headers } = await sending;

    expect([status, body.code, headers['retry-after']]).toEqual([503, 'unavailable', '1']);
  });
});
