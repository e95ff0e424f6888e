import { EventEmitter } from 'node:events';
import { CallerLimit } from './caller-limit.js';

describe('CallerLimit', () => {
  let limit: CallerLimit;
  beforeEach(() => {
    jest.useFakeTimers();
    limit = new CallerLimit({ perCaller: 1, maxWaitMs: 2_000 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('refuses what has waited for ten seconds, and goes on with what has not', async () => {
    await limit.acquire('a');
    const refused = expect(limit.acquire('a')).rejects.toMatchObject({ code: 'unavailable', retryAfter: 1 });
    await jest.advanceTimersByTimeAsync(1_000);
    const next = limit.acquire('a');
    await jest.advanceTimersByTimeAsync(9_000);
    await refused;
    limit.release('a');
    await next;
  });

  it('starts the next operation only after the rest of the previous one', async () => {
    await limit.acquire('a');
    const started = jest.fn();
    const next = limit.acquire('a').then(started);
    limit.release('a', 1_000);
    await jest.advanceTimersByTimeAsync(999);
    expect(started).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    await next;
  });

  it('drops what waits for a client that has gone', async () => {
    await limit.acquire('a');
    const client = new EventEmitter();
    const dropped = expect(limit.acquire('a', client)).rejects.toMatchObject({ code: 'malformed_request' });
    const next = limit.acquire('a');
    client.emit('close');
    await dropped;
    limit.release('a');
    await next;
    expect(client.listenerCount('close')).toBe(0);
  });
});
