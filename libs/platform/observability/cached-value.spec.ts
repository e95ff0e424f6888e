import { CachedValue } from './cached-value.js';

describe('CachedValue', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('reads at most once in its time, also when reading fails', async () => {
    let reads = 0;
    const cached = new CachedValue(5_000, () =>
      ++reads === 2 ? Promise.reject(new Error('away')) : Promise.resolve(reads),
    );
    expect(await Promise.all([cached.latest(), cached.latest(), cached.latest()])).toEqual([1, 1, 1]);
    jest.advanceTimersByTime(4_999);
    expect(await cached.latest()).toBe(1);
    jest.advanceTimersByTime(1);
    expect(await cached.latest()).toBeNull();
    expect(await cached.latest()).toBeNull();
    expect(reads).toBe(2);
    jest.advanceTimersByTime(5_000);
    expect(await cached.latest()).toBe(3);
  });

  it('times out, and does not read again while a read is in progress', async () => {
    let reads = 0;
    let finish: (value: string) => void = () => undefined;
    const cached = new CachedValue(5_000, () => {
      reads++;
      return new Promise<string>((resolve) => (finish = resolve));
    });
    const first = cached.latest();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(await first).toBeNull();
    const second = cached.latest();
    finish('late');
    expect(await second).toBe('late');
    expect(reads).toBe(1);
  });
});
