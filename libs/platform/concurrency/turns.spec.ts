import { EventEmitter } from 'node:events';
import { Turns } from './turns.js';

describe('Turns', () => {
  let turns: Turns;
  beforeEach(() => {
    jest.useFakeTimers();
    turns = new Turns({ perCaller: 1, maxWaitMs: 2_000 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('refuses what has waited for ten seconds, and goes on with what has not', async () => {
    await turns.take('a');
    const refused = expect(turns.take('a')).rejects.toMatchObject({ code: 'unavailable', retryAfter: 1 });
    await jest.advanceTimersByTimeAsync(1_000);
    const next = turns.take('a');
    await jest.advanceTimersByTimeAsync(9_000);
    await refused;
    turns.end('a');
    await next;
  });

  it('goes on with the next only after the rest of a turn', async () => {
    await turns.take('a');
    const started = jest.fn();
    const next = turns.take('a').then(started);
    turns.end('a', 1_000);
    await jest.advanceTimersByTimeAsync(999);
    expect(started).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    await next;
  });

  it('drops what waits for a client that has gone', async () => {
    await turns.take('a');
    const client = new EventEmitter();
    const dropped = expect(turns.take('a', client)).rejects.toMatchObject({ code: 'malformed_request' });
    const next = turns.take('a');
    client.emit('close');
    await dropped;
    turns.end('a');
    await next;
    expect(client.listenerCount('close')).toBe(0);
  });
});
