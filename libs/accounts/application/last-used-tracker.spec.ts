import { unavailable } from '../../../test/support/messages.js';
import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import { RepeatedTask } from '#kernel/background-task.js';
import { LastUsedTracker } from './last-used-tracker.js';

const MINUTE = new Date('2026-11-21T09:30:00.000Z');
const NEXT_MINUTE = new Date('2026-11-21T09:31:00.000Z');

describe('LastUsedTracker', () => {
  let saved: ReadonlyMap<string, Date>[];
  let away: boolean;
  let lastUsed: LastUsedTracker;

  beforeEach(() => {
    [saved, away] = [[], false];
    const saveLastUses = (uses: ReadonlyMap<string, Date>) =>
      away ? Promise.reject(unavailable()) : Promise.resolve(void saved.push(uses));
    lastUsed = new LastUsedTracker({ saveLastUses });
  });

  it('writes the last use of each key together, once', async () => {
    for (const at of [MINUTE, NEXT_MINUTE]) lastUsed.record('key_1', at);
    lastUsed.record('key_2', MINUTE);
    await lastUsed.flush();
    await lastUsed.flush();
    expect(saved).toEqual([
      new Map([
        ['key_1', NEXT_MINUTE],
        ['key_2', MINUTE],
      ]),
    ]);
  });

  it('continues after a failed write', async () => {
    for (const at of [MINUTE, NEXT_MINUTE]) {
      away = at === MINUTE;
      lastUsed.record('key_1', at);
      await lastUsed.flush();
    }
    expect(saved).toEqual([new Map([['key_1', NEXT_MINUTE]])]);
  });

  it('writes within seconds, and the rest when the process stops', async () => {
    jest.useFakeTimers();
    try {
      const running = new RepeatedTask(lastUsed, ALWAYS_ACTIVE);
      await running.start();
      lastUsed.record('key_1', MINUTE);
      await jest.advanceTimersByTimeAsync(5_000);
      expect(saved).toHaveLength(1);
      lastUsed.record('key_1', NEXT_MINUTE);
      await running.stop();
      expect(saved).toHaveLength(2);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
