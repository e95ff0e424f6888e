import { Reading } from './reading.js';

describe('Reading', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('reads at most once in its time, however many ask, also when it fails', async () => {
    let reads = 0;
    const reading = new Reading(5_000, () =>
      ++reads === 2 ? Promise.reject(new Error('away')) : Promise.resolve(reads),
    );
    expect(await Promise.all([reading.latest(), reading.latest(), reading.latest()])).toEqual([1, 1, 1]);
    jest.advanceTimersByTime(4_999);
    expect(await reading.latest()).toBe(1);
    jest.advanceTimersByTime(1);
    expect(await reading.latest()).toBeNull();
    expect(await reading.latest()).toBeNull();
    expect(reads).toBe(2);
    jest.advanceTimersByTime(5_000);
    expect(await reading.latest()).toBe(3);
  });

  it('waits for a value only so long, and begins no second reading meanwhile', async () => {
    let reads = 0;
    let answer: (value: string) => void = () => undefined;
    const reading = new Reading(5_000, () => {
      reads++;
      return new Promise<string>((resolve) => (answer = resolve));
    });
    const first = reading.latest();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(await first).toBeNull();
    const second = reading.latest();
    answer('late');
    expect(await second).toBe('late');
    expect(reads).toBe(1);
  });
});
