import { TestApi } from '../../support/api.js';
import { kindOf, numberIn, REFUSED, shown } from '../../support/limits.js';

describe('sign-ups from one address', () => {
  it('are 20 in an hour, of which those that fail do not count', async () => {
    const api = await new TestApi().start({ SIGNUPS_PER_HOUR: '' });
    const signUp = (body: string) => api.ask(null, 'POST /accounts', body);
    const kinds: string[] = [];
    for (let count = 0; count < 20; count++) {
      kinds.push(kindOf(await signUp('{"name":""}')), kindOf(await signUp('{"name":"tests"}')));
    }
    const last = await signUp('{"name":"tests"}');
    await api.stop();

    expect(kinds.filter((kind) => kind === '201')).toHaveLength(20);
    expect(kinds.filter((kind) => kind === '400 validation_failed')).toHaveLength(20);
    expect(kindOf(last)).toBe(REFUSED);
    expect(shown(last)).toMatchObject({ limit: 20, remaining: 0 });
    expect(last.headers['ratelimit-policy']).toBe('"signup";q=20;w=3600');
    expect(numberIn(last, 'retry-after')).toBeGreaterThan(3_500);
  });
});
