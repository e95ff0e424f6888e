import { Places } from './places.js';

describe('Places', () => {
  let now = 0;
  let places: Places;
  beforeEach(() => {
    now = 1_000_000;
    places = new Places(40, () => now);
  });

  const many = (...ids: string[]) => ids.map((endpointId) => ({ endpointId, due: 1_000 }));
  /** Starts what it is given; the ends of the attempts. */
  const start = (...ids: string[]) =>
    [...places.divide(many(...ids))].flatMap(([id, count]) => Array.from({ length: count }, () => places.take(id)));
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
    places = new Places(40, () => now);
    warm('a');
    expect(start('a').length).toBe(20);
  });

  it('gives no more than is due', () => {
    expect(places.divide([{ endpointId: 'a', due: 2 }])).toEqual(new Map([['a', 2]]));
  });

  it('gives one that fails fewer, then one at a time, ten a second', () => {
    warm('a');
    end(start('a'), false);
    now += 100;
    expect(start('a').length).toBe(1);
    now += 99;
    expect(start('a').length).toBe(0);
    places = new Places(40, () => now);
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
    const slow = Array.from({ length: 12 }, (_, index) => `slow-${index}`);
    // They are found to be slow once their first requests have run for a second.
    start(...slow.slice(0, 5));
    now += 1_001;
    const free = places.free;
    start(...slow);
    start(...slow);
    expect([free, places.free]).toEqual([20, 0]);
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

  it('divides what is free evenly', () => {
    const ids = Array.from({ length: 20 }, (_, index) => `e${index}`);
    expect([...places.divide(many(...ids)).values()]).toEqual(Array(20).fill(2));
  });

  it('forgets what it has not used for long', () => {
    warm('a');
    now += 600_001;
    places.divide([]);
    expect(start('a').length).toBe(4);
  });
});
