import { EndpointPlaces } from './endpoint-places.js';

describe('EndpointPlaces', () => {
  let now = 0;
  let places: EndpointPlaces;
  beforeEach(() => {
    now = 1_000_000;
    places = new EndpointPlaces(40, () => now);
  });

  /** Of an account each, unless their names begin with that of one: `account/endpoint`. */
  const accountOf = (endpointId: string) => endpointId.split('/')[0] ?? '';
  const many = (...ids: string[]) =>
    ids.map((endpointId) => ({ endpointId, accountId: accountOf(endpointId), due: 1_000 }));
  /** Starts what it is given; the ends of the attempts. */
  const start = (...ids: string[]) =>
    [...places.divide(many(...ids))].flatMap(([id, count]) =>
      Array.from({ length: count }, () => places.take({ endpointId: id, accountId: accountOf(id) })),
    );
  const end = (attempts: ((succeeded: boolean) => void)[], succeeded: boolean, afterMs = 10) => {
    now += afterMs;
    for (const attempt of attempts) attempt(succeeded);
  };
  const warm = (id: string) => {
    for (let rounds = 0; rounds < 5; rounds++) end(start(id), true);
  };

  it('gives an endpoint more places while it succeeds, up to half of all', () => {
    expect(start('a').length).toBe(4);
    expect(start('a').length).toBe(0);
    places = new EndpointPlaces(40, () => now);
    warm('a');
    expect(start('a').length).toBe(20);
  });

  it('gives no more than is due', () => {
    expect(places.divide([{ endpointId: 'a', accountId: 'a', due: 2 }])).toEqual(new Map([['a', 2]]));
  });

  it('gives one that fails fewer, then one at a time, ten a second', () => {
    warm('a');
    end(start('a'), false);
    now += 100;
    expect(start('a').length).toBe(1);
    now += 99;
    expect(start('a').length).toBe(0);
    places = new EndpointPlaces(40, () => now);
    for (let rounds = 0; rounds < 3; rounds++) end(start('b'), false);
    now += 100;
    const counts = Array.from({ length: 20 }, () => {
      const started = start('b');
      end(started, false, 50);
      return started.length;
    });
    expect(counts.reduce((sum, count) => sum + count)).toBe(10);
  });

  it('keeps half of the places for endpoints that are not slow', () => {
    const slow = Array.from({ length: 18 }, (_, index) => `account-${index % 3}/${index}`);
    // They are found to be slow once their first requests have run for a second.
    const attempts = start(...slow);
    now += 1_001;
    const { free } = places;
    expect(places.divide(many(...slow)).size).toBe(0);
    end(attempts, true, 0);
    expect(start(...slow).length).toBeLessThan(20);
    expect(free).toBeLessThan(20);
    expect(start('good').length).toBe(4);
  });

  it('gives the rest to an endpoint that answers while others are slow', () => {
    const slow = Array.from({ length: 5 }, (_, index) => `slow-${index}`);
    const first = start(...slow);
    now += 1_001;
    expect(places.divide(many(...slow)).size).toBe(0);
    expect(places.divide(many(...slow, 'good')).get('good')).toBe(4);
    end(first, true, 0);
    expect(places.free).toBe(40);
  });

  it('gives what slow endpoints free to others while they have more than half', () => {
    const slow = Array.from({ length: 10 }, (_, index) => `slow-${index}`);
    const known = ['slow-1/a', 'slow-1/b'];
    end(start(...known), true, 1_001);
    const attempts = start(...slow);
    expect(places.free).toBeLessThan(20);
    end(attempts.slice(0, 3), true, 1_001);
    expect(places.divide(many(...known)).size).toBe(0);
    expect([...places.divide(many(...known, 'good')).keys()]).toEqual(['good']);
  });

  it('gives turns to those that have waited for the longest', () => {
    const ids = Array.from({ length: 60 }, (_, index) => `endpoint-${index}`);
    const first = start(...ids);
    end(first, true);
    const served = new Set([...places.divide(many(...ids)).keys()]);
    expect(ids.slice(40).every((id) => served.has(id))).toBe(true);
  });

  it('divides what is free evenly', () => {
    const ids = Array.from({ length: 9 }, (_, index) => `e${index}`);
    expect([...places.divide(many(...ids)).values()]).toEqual(Array(9).fill(4));
  });

  it('gives an account half of all, and less while others have some', () => {
    const endpointsOf = (account: string) => Array.from({ length: 20 }, (_, index) => `${account}/${index}`);
    const counts = ['a', 'b', 'c'].map((account) => start(...endpointsOf(account)).length);
    expect(counts).toEqual([20, 10, 5]);
  });

  it('gives every account four places, and one for slow endpoints, when others have taken all', () => {
    const endpointsOf = (account: string) => Array.from({ length: 20 }, (_, index) => `${account}/${index}`);
    const silent = Array.from({ length: 12 }, (_, index) => `silent-${index}`);
    end(start('slow/a', 'slow/b'), true, 1_001);
    for (const account of silent) expect(start(...endpointsOf(account)).length).toBeGreaterThanOrEqual(4);
    now += 1_001;
    expect(start('good').length).toBe(4);
    expect(start('slow/a', 'slow/b').length).toBe(1);
    expect(places.free).toBeLessThan(-30);
  });

  it('runs at most twice as many requests', () => {
    const accounts = Array.from({ length: 40 }, (_, index) => `account-${index}`);
    for (const account of accounts) start(account);
    expect(places.free).toBe(-40);
    expect(places.isFull).toBe(true);
  });

  it('leaves half of what an account may have to those of its endpoints that are not slow', () => {
    const slow = Array.from({ length: 20 }, (_, index) => `a/slow-${index}`);
    end(start(...slow), true, 1_001);
    expect(start(...slow).length).toBe(10);
    expect(start('a/good').length).toBe(4);
  });

  it('counts what an account has until its attempts have ended', () => {
    const ids = Array.from({ length: 20 }, (_, index) => `a/${index}`);
    const attempts = start(...ids);
    expect(start(...ids)).toEqual([]);
    end(attempts, true);
    expect(start(...ids).length).toBe(20);
  });

  it('forgets what it has not used for long', () => {
    warm('a');
    now += 600_001;
    places.divide([]);
    expect(start('a').length).toBe(4);
  });
});
