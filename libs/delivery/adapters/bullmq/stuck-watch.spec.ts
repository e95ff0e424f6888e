import { StuckWatch } from './stuck-watch.js';

it('A worker is stuck while the same job waits for half a minute, and it takes none', async () => {
  jest.useFakeTimers();
  let first: string | null = 'one';
  const onStuck = jest.fn();
  const watch = new StuckWatch(() => Promise.resolve(first), onStuck);
  watch.start();
  const stuckAfter = async (seconds: number) => {
    await jest.advanceTimersByTimeAsync(seconds * 1_000);
    return watch.isStuck;
  };
  expect(await stuckAfter(30)).toBe(false);
  expect(await stuckAfter(5)).toBe(true);
  first = 'two';
  expect(await stuckAfter(30)).toBe(false);
  watch.took();
  expect(await stuckAfter(30)).toBe(false);
  expect(await stuckAfter(60)).toBe(true);
  expect(onStuck).toHaveBeenCalledTimes(2);
  first = null;
  expect(await stuckAfter(60)).toBe(false);
  await watch.close();
  jest.useRealTimers();
});
