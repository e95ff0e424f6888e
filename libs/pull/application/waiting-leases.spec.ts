import { setTimeout as sleep } from 'node:timers/promises';
import { WaitingLeases, type Search } from './waiting-leases.js';

const A_WHILE_MS = 60_000;

/** Messages of one account, and the searches for them. */
class Store {
  available = 0;
  searches = 0;
  nextMs: number | null = null;
  leaseMs = 60_000;
  fault: Error | null = null;
  count: () => number = () => -1;
  private announce: (accountIds: Iterable<string> | 'all') => void = () => undefined;
  readonly waiting = new WaitingLeases(
    { listen: (listener) => (this.announce = listener) },
    {
      watch: (waiting) => (this.count = waiting),
    },
  );

  add(messages: number): void {
    this.available += messages;
    this.announce(['acct_1']);
  }

  announceAll(): void {
    this.announce('all');
  }

  /** @returns how many were found, at most two; null for none */
  lease(waitMs = A_WHILE_MS, gone = new AbortController().signal): Promise<number | null> {
    const search: Search<number> = {
      attempt: () => {
        this.searches++;
        if (this.fault !== null) return Promise.reject(this.fault);
        const found = Math.min(2, this.available);
        this.available -= found;
        return Promise.resolve(found === 0 ? null : found);
      },
      mayBeMore: (found) => found === 2,
      leaseMs: this.leaseMs,
      nextIn: () => Promise.resolve(this.nextMs),
    };
    return this.waiting.search('acct_1', waitMs, gone, search);
  }
}

describe('WaitingLeases', () => {
  let store: Store;
  beforeEach(() => {
    store = new Store();
  });
  afterEach(() => {
    store.waiting.close();
  });

  it('finds at once what is there, and does not wait when it must not', async () => {
    store.available = 1;
    expect(await store.lease()).toBe(1);
    expect(await store.lease(0)).toBeNull();
    expect(store.count()).toBe(0);
  });

  it('searches again only when something is announced, and only for the one that waits longest', async () => {
    const first = store.lease();
    const others = [store.lease(), store.lease()];
    await sleep(10);
    expect(store.count()).toBe(3);
    store.searches = 0;
    store.add(1);
    expect(await first).toBe(1);
    await sleep(10);
    expect(store.searches).toBe(1);
    store.add(4);
    expect(await Promise.all(others)).toEqual([2, 2]);
    expect(store.count()).toBe(0);
  });

  it('searches nothing for one that joins others for whom nothing was there', async () => {
    void store.lease();
    await sleep(10);
    void store.lease();
    await sleep(10);
    expect(store.searches).toBe(1);
  });

  it('begins two searches at once, however many come, and serves all the same', async () => {
    store.available = 7;
    const searches = Array.from({ length: 5 }, () => store.lease());
    expect(store.searches).toBe(2);
    expect((await Promise.all(searches.slice(0, 4))).sort()).toEqual([1, 2, 2, 2]);
    store.add(1);
    expect(await searches[4]).toBe(1);
  });

  it('does not miss what is announced during a search', async () => {
    const search = store.lease();
    store.add(1);
    expect(await search).toBe(1);
  });

  it('passes on what was announced to one that is gone', async () => {
    const gone = new AbortController();
    const [first, second] = [store.lease(A_WHILE_MS, gone.signal), store.lease()];
    await sleep(10);
    gone.abort();
    store.add(1);
    expect(await first).toBeNull();
    expect(await second).toBe(1);
  });

  it('searches when the next one is due', async () => {
    store.nextMs = 30;
    const search = store.lease();
    await sleep(5);
    store.nextMs = null;
    store.available = 1;
    expect(await search).toBe(1);
  });

  it('searches when what another one has found may be available again', async () => {
    store.leaseMs = 30;
    const [first, second] = [store.lease(), store.lease()];
    await sleep(5);
    store.add(1);
    expect(await first).toBe(1);
    store.available = 1;
    expect(await second).toBe(1);
  });

  it('searches for all accounts when announcements may be missing', async () => {
    const search = store.lease();
    await sleep(5);
    store.available = 1;
    store.announceAll();
    expect(await search).toBe(1);
  });

  it('fails only the one whose search fails, and lets another one search later', async () => {
    const [first, second] = [store.lease(), store.lease()];
    await sleep(5);
    store.fault = new Error('The store is away.');
    store.add(1);
    await expect(first).rejects.toThrow('away');
    store.fault = null;
    expect(await second).toBe(1);
  });

  it('ends when the time is up, and all at once when it is closed', async () => {
    expect(await store.lease(20)).toBeNull();
    const searches = [store.lease(), store.lease()];
    await sleep(5);
    store.waiting.close();
    expect(await Promise.all(searches)).toEqual([null, null]);
    expect(await store.lease()).toBeNull();
  });

  it('lets a thousand of an account wait, and no more', async () => {
    const searches = Array.from({ length: 1_000 }, () => store.lease());
    await sleep(5);
    expect(await store.lease()).toBeNull();
    expect(store.count()).toBe(1_000);
    store.waiting.close();
    await Promise.all(searches);
  });
});
