import { Health } from './health.js';

describe('Health', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('asks the database at most once a second, however often it is asked itself', async () => {
    let asked = 0;
    const health = new Health(() => Promise.resolve(++asked));
    for (let times = 0; times < 10; times++) await Promise.all([health.readiness(), health.readiness()]);
    expect(asked).toBe(1);
    jest.advanceTimersByTime(999);
    await health.readiness();
    expect(asked).toBe(1);
    jest.advanceTimersByTime(1);
    await health.readiness();
    expect(asked).toBe(2);
  });

  it('gives a database that does not answer less than a second', async () => {
    const health = new Health(() => new Promise(() => undefined));
    health.serve();
    const readiness = health.readiness();
    await jest.advanceTimersByTimeAsync(999);
    expect(await readiness).toEqual({ ready: false, checks: { process: 'serving', database: 'down' } });
  });

  it('is ready only while the process serves; what drains never serves again', async () => {
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
    let takesWork = true;
    health.serve(() => takesWork);
    expect(await processIs()).toBe('serving: true');
    takesWork = false;
    expect(await processIs()).toBe('paused: false');
    takesWork = true;
    expect(await processIs()).toBe('serving: true');
    health.drain();
    health.serve();
    expect(await processIs()).toBe('draining: false');
  });
});
