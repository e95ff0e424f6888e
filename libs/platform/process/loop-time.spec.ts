import { setTimeout as sleep } from 'node:timers/promises';
import { loopTime } from './loop-time.js';

it('loopTime counts the time in which the event loop is blocked as one step', async () => {
  const begin = loopTime();
  await sleep(250);
  expect(loopTime() - begin).toBeGreaterThanOrEqual(100);
  const blockedFrom = loopTime();
  const end = performance.now() + 500;
  while (performance.now() < end);
  await sleep(1);
  expect(loopTime() - blockedFrom).toBeLessThanOrEqual(300);
});
