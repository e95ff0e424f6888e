import { Health } from './health.js';

describe('Health', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('queries the database at most once a second', async () => {
    let pings = 0;
    const health = new Health(() => Promise.resolve(++pings));
    for (let times = 0; times < 10; times++) await Promise.all([health.readiness(), health.readiness()]);
    expect(pings).toBe(1);
    jest.advanceTimersByTime(999);
    await health.readiness();
    expect(pings).toBe(1);
    jest.advanceTimersByTime(1);
    await health.readiness();
    expect(pings).toBe(2);
  });

  it('waits less than a second for a database that does not respond', async () => {
    const health = new Health(() => new Promise(() => undefined));
    health.serve({ isClockRight: () => true });
    const readiness = health.readiness();
    await jest.advanceTimersByTimeAsync(999);
    expect(await readiness).toMatchObject({ ready: false, checks: { process: 'serving', database: 'down' } });
  });

  it('is ready only while the process serves; a draining process never serves again', async () => {
    const health = new Health(() => Promise.resolve());
    const processIs = async () => {
      const { ready, checks } = await health.readiness();
      return `${checks.process}: ${ready}`;
    };
    expect(await processIs()).toBe('starting: false');
    await health.whileMigrating(async () => {
      expect(await processIs()).toBe('migrating: false');
    });
    expect(await processIs()).toBe('starting: false');
    let state: 'serving' | 'paused' | 'stuck' = 'serving';
    let isRight = true;
    health.serve({ state: () => state, isClockRight: () => isRight });
    expect(await processIs()).toBe('serving: true');
    for (const reason of ['paused', 'stuck'] as const) {
      state = reason;
      expect(await processIs()).toBe(`${reason}: false`);
    }
    state = 'serving';
    isRight = false;
    expect((await health.readiness()).checks.clock).toBe('wrong');
    expect(await processIs()).toBe('serving: true');
    health.drain();
    health.serve({ isClockRight: () => true });
    expect(await processIs()).toBe('draining: false');
  });
});
