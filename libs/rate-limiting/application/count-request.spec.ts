import type { Caller } from '#kernel/caller.js';
import { CountRequest, type CountedRequest } from './count-request.js';
import type { Verdict } from './limiter.js';

const CALLER: Caller = {
  ...{ accountId: 'acct_1', keyId: 'key_1', scopes: [], epoch: 1, suspended: false, delivery: 'handler' },
};
const ADMITTED: Verdict = { kind: 'admitted', windows: [] };
const REFUSED: Verdict = { kind: 'refused', windows: [], retryInMs: 1 };
const STALE: Verdict = { kind: 'stale' };
const newer = (lookups: number): Caller => ({ ...CALLER, epoch: 1 + lookups });

describe('CountRequest', () => {
  it.each<[string, Verdict[], string, number]>([
    ['admits', [ADMITTED], 'admitted', 0],
    ['refuses', [REFUSED], 'refused', 0],
    ['looks a changed key up again, then admits', [STALE, STALE, ADMITTED], 'admitted', 2],
    ['looks a changed key up again, then refuses', [STALE, REFUSED], 'refused', 1],
  ])('%s', async (_, verdicts, kind, lookups) => {
    const { request, outcome, epochs } = await counted(verdicts);
    expect((await outcome).kind).toBe(kind);
    expect(epochs).toEqual(verdicts.map((_verdict, index) => 1 + index));
    expect(request).toMatchObject({ caller: newer(lookups), verifiedAt: 7, rateLimit: [] });
  });

  it('counts nothing for a key that turns out to be invalid', async () => {
    const { request, outcome } = await counted([STALE], () => null);
    expect(await outcome).toEqual({ kind: 'invalid' });
    expect(request.caller).toBeUndefined();
  });

  it('gives up on a key that changes with each lookup', async () => {
    const { outcome, epochs } = await counted(Array<Verdict>(10).fill(STALE));
    await expect(outcome).rejects.toMatchObject({ code: 'unavailable' });
    expect(epochs).toEqual([1, 2, 3, 4, 5]);
  });

  async function counted(verdicts: Verdict[], found: (lookups: number) => Caller | null = newer) {
    let lookups = 0;
    const epochs: number[] = [];
    const refresh = () => Promise.resolve(found(++lookups));
    const request: CountedRequest = { presentedKey: 'slc_key', caller: CALLER };
    const outcome = new CountRequest({ recall: () => null }, { refresh }, () => 7).execute(request, ({ epoch }) => {
      epochs.push(epoch);
      return Promise.resolve(verdicts[epochs.length - 1] ?? ADMITTED);
    });
    await outcome.catch(() => undefined);
    return { request, outcome, epochs };
  }
});
