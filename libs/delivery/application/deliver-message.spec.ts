import { runInNewContext } from 'node:vm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from '../../../test/contracts/fakes/delivering.js';
import { after, claimTerms, jobOf, SENT_AT, TRACEPARENT, unavailable } from '../../../test/support/messages.js';
import { GiveUp, RetryDelivery } from './message-handler.js';

const failing = (error: Error) => () => Promise.reject(error);

describe('DeliverMessage', () => {
  it('hands the message to the handler under its claim and stores that it was delivered', async () => {
    const worker = new Worker(() => {
      expect(worker.stored(message)).toMatchObject({ status: 'processing', attempts: 1 });
      expect(worker.stored(message).claim?.expiresAt).toEqual(after(10_000 + 15_000));
      return Promise.resolve();
    });
    const message = worker.has({ text: 'hello', traceparent: TRACEPARENT });
    expect(await worker.run(message)).toEqual({ kind: 'done' });
    const sent = { accountId: 'acct_of_nobody', message: 'hello', createdAt: SENT_AT, traceparent: TRACEPARENT };
    const terms = { attempt: 1, attemptsLeft: 2, deadline: expect.any(Date) as Date };
    expect(worker.calls).toEqual([{ id: message.id, ...sent, ...terms }]);
    expect(worker.calls[0]?.deadline.getTime()).toBeCloseTo(Date.now() + 10_000, -4);
    expect(worker.stored(message)).toMatchObject({ status: 'delivered', attempts: 1, failures: 0, claim: null });
  });

  it('does nothing when there is nothing to claim', async () => {
    const worker = new Worker();
    const message = worker.has({ status: 'cancelled' });
    expect(await worker.run(message)).toEqual({ kind: 'done' });
    expect(worker.calls).toEqual([]);
    expect(worker.stored(message)).toEqual(message.state);
  });

  it('repeats what failed after a growing backoff, and fails it for good when its attempts are used up', async () => {
    const worker = new Worker(failing(new Error('no luck')));
    const message = worker.has();
    expect(await worker.run(message)).toEqual({ kind: 'again', afterMs: 750 });
    const failed = { failureReason: 'no luck', claim: null };
    expect(worker.stored(message)).toMatchObject({
      status: 'queued',
      failures: 1,
      nextAttemptAt: after(750),
      ...failed,
    });
    worker.store.clock.advance(750);
    expect(await worker.run(message)).toEqual({ kind: 'again', afterMs: 1_500 });
    worker.store.clock.advance(1_500);
    expect(await worker.run(message)).toEqual({ kind: 'failed', reason: 'no luck' });
    expect(worker.stored(message)).toMatchObject({ status: 'failed', attempts: 3, nextAttemptAt: null, ...failed });
    expect(worker.calls).toMatchObject([1, 2, 3].map((attempt) => ({ attempt, attemptsLeft: 3 - attempt })));
  });

  it('leaves a message to a later attempt whose job has come too early', async () => {
    const worker = new Worker();
    const message = worker.has({ failures: 1, nextAttemptAt: after(2_000) });
    worker.store.clock.advance(500);
    expect(await worker.run(message)).toEqual({ kind: 'again', afterMs: 1_500 });
    expect(worker.calls).toEqual([]);
    expect(worker.stored(message)).toEqual(message.state);
  });

  it.each([
    ['as long as the handler asks for', 2_500, 2_500],
    ['not at all if it asks for that', 0, 0],
    ['no longer than any other wait', 60_001, 60_000],
    ['for whole milliseconds', 10.6, 11],
    ['not into the past', -1, 0],
    ['as long as possible when the time is invalid', NaN, 60_000],
  ])('waits %s', async (_, wanted, afterMs) => {
    const worker = new Worker(failing(new RetryDelivery('busy', wanted)));
    const message = worker.has();
    expect(await worker.run(message)).toEqual({ kind: 'again', afterMs });
    expect(worker.stored(message)).toMatchObject({ status: 'queued', failures: 1, failureReason: 'busy' });
  });

  it.each([
    ['for good when the handler gives up', new GiveUp('no'), {}],
    ['for good when it gives up by an object', { name: 'GiveUp', message: 'no' }, {}],
    [
      'for good when it gives up by an error of another realm',
      runInNewContext("Object.assign(new Error('no'), { name: 'GiveUp' })") as Error,
      {},
    ],
    ['after the last attempt also when the handler names the next one', new RetryDelivery('no', 1), { maxAttempts: 1 }],
  ])('fails a message %s', async (_, error, terms) => {
    const worker = new Worker(failing(error), terms);
    const message = worker.has();
    expect(await worker.run(message)).toEqual({ kind: 'failed', reason: 'no' });
    expect(worker.stored(message)).toMatchObject({ status: 'failed', failures: 1, failureReason: 'no' });
  });

  it('fails only the attempt when a handler throws before its first await', async () => {
    const worker = new Worker(() => {
      throw new Error('at once');
    });
    const message = worker.has();
    expect(await worker.run(message)).toMatchObject({ kind: 'again' });
    expect(worker.stored(message)).toMatchObject({ status: 'queued', failureReason: 'at once' });
  });

  it('gives an attempt its time and no more, and aborts the handler', async () => {
    let reason: unknown;
    const never = async (_: unknown, signal: AbortSignal) => {
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      reason = signal.reason;
      throw new Error('after its time');
    };
    const worker = new Worker(never, { attemptTimeoutMs: 20 });
    const message = worker.has();
    expect(await worker.run(message)).toMatchObject({ kind: 'again' });
    expect(worker.stored(message).failureReason).toBe('The attempt took longer than 20 ms.');
    expect(reason).toMatchObject({ name: 'TimeoutError', message: 'The attempt took longer than 20 ms.' });
  });

  it('hands over what is unfinished when the worker stops, without a failure', async () => {
    let given: AbortSignal | undefined;
    const worker = new Worker((_, signal) => {
      given = signal;
      return new Promise(() => undefined);
    });
    const [begun, waiting] = [worker.has(), worker.has()];
    const run = worker.run(begun);
    await sleep(0);
    worker.stopping.abort();
    expect([await run, await worker.run(waiting)]).toEqual(Array(2).fill({ kind: 'again', afterMs: 0 }));
    expect(given?.reason).toMatchObject({ name: 'AbortError' });
    const handedOver = { status: 'queued', attempts: 1, failures: 0, failureReason: 'worker_stopped', claim: null };
    expect(worker.stored(begun)).toMatchObject(handedOver);
    expect(worker.stored(waiting)).toEqual(waiting.state);
  });

  it('does not abort a handler that was in time', async () => {
    let given: AbortSignal | undefined;
    const worker = new Worker(
      (_, signal) => {
        given = signal;
        return Promise.resolve();
      },
      { attemptTimeoutMs: 20 },
    );
    await worker.run(worker.has());
    await sleep(60);
    expect(given?.aborted).toBe(false);
  });

  it.each<[string, unknown, string]>([
    ['a text', 'as text', 'as text'],
    ['no error at all', undefined, 'undefined'],
    ['an object with a message', { message: 'no luck' }, 'no luck'],
    ['an object without a message', { code: 5, secret: 'x' }, '[object Object]'],
    ['an error without a message', new Error(''), 'The handler failed without a reason.'],
    ['only what can not be stored', new Error('\u0000'), 'The handler failed without a reason.'],
    ['only white space', new Error(' \n'), 'The handler failed without a reason.'],
    ['U+0000', new Error('be\u0000fore'), 'before'],
    ['controls', new Error('\u001b[2J\u009b31mred\u202e\u{e0041}\nend'), '\ufffd[2J\ufffd31mred\ufffd\ufffd end'],
    ['a lone surrogate', new Error('x\ud83dx'), 'x\ufffdx'],
    ['a very long reason', new Error('y'.repeat(5_000)), 'y'.repeat(1_000)],
    ['a pair at the end of what is kept', new Error(`${'z'.repeat(999)}💌💌`), `${'z'.repeat(999)}💌`],
    ['an error whose message is no text', Object.assign(new Error(), { message: 42 }), '42'],
    ['what has no text at all', Object.create(null), 'The handler failed without a reason.'],
  ])('makes a reason of %s that every store can keep', async (_, thrown, reason) => {
    const worker = new Worker(failing(thrown as Error), { maxAttempts: 1 });
    const message = worker.has();
    expect(await worker.run(message)).toEqual({ kind: 'failed', reason });
    expect(worker.stored(message)).toMatchObject({ status: 'failed', failureReason: reason });
  });

  it.each([
    ['delivered', () => Promise.resolve(), {}],
    ['failed', failing(new Error('no luck')), {}],
    ['failed for good', failing(new Error('no luck')), { maxAttempts: 1 }],
  ])(
    'leaves a message that was %s here to who has taken it over meanwhile, which was no crash',
    async (_, handle, terms) => {
      const takenOver = async () => {
        await worker.deliveries.claim(jobOf(message), claimTerms());
        await handle();
      };
      const worker = new Worker(takenOver, terms);
      const message = worker.has();
      expect(await worker.run(message)).toEqual({ kind: 'done' });
      expect(worker.stored(message)).toMatchObject({ status: 'processing', attempts: 2, crashes: 0, failures: 0 });
    },
  );

  it('stores how it ended as soon as the store is available again', async () => {
    const worker = new Worker();
    const settle = jest.spyOn(worker.deliveries, 'settle');
    settle.mockRejectedValueOnce(unavailable()).mockRejectedValueOnce(unavailable());
    const message = worker.has();
    expect(await worker.run(message)).toEqual({ kind: 'done' });
    expect(settle).toHaveBeenCalledTimes(3);
    expect(worker.calls).toHaveLength(1);
    expect(worker.stored(message).status).toBe('delivered');
  });

  it('keeps the backoff of an end that was stored while its response was lost', async () => {
    const worker = new Worker(failing(new Error('no luck')));
    const settle = worker.deliveries.settle.bind(worker.deliveries);
    jest.spyOn(worker.deliveries, 'settle').mockImplementationOnce(async (claimed, ended) => {
      await settle(claimed, ended);
      throw unavailable();
    });
    expect(await worker.run(worker.has())).toEqual({ kind: 'again', afterMs: 750 });
  });

  it('leaves it to the next worker when the process stops while the store is away', async () => {
    const worker = new Worker();
    jest.spyOn(worker.deliveries, 'settle').mockRejectedValue(unavailable());
    const message = worker.has();
    const run = worker.run(message);
    await sleep(0);
    worker.stopping.abort();
    await expect(run).rejects.toMatchObject({ code: 'unavailable' });
    expect(worker.stored(message).status).toBe('processing');
  });

  it('does not call the handler when the store is unavailable', async () => {
    const worker = new Worker();
    jest.spyOn(worker.deliveries, 'claim').mockRejectedValue(unavailable());
    const run = worker.run(worker.has());
    await sleep(0);
    worker.stopping.abort();
    await expect(run).rejects.toMatchObject({ code: 'unavailable' });
    expect(worker.calls).toEqual([]);
  });

  it('repeats a claim whose response was lost, and counts no crash for it', async () => {
    const worker = new Worker();
    const claim = worker.deliveries.claim.bind(worker.deliveries);
    jest.spyOn(worker.deliveries, 'claim').mockImplementationOnce(async (job, terms) => {
      await claim(job, terms);
      throw unavailable();
    });
    const message = worker.has();
    expect(await worker.run(message)).toEqual({ kind: 'done' });
    expect(worker.stored(message)).toMatchObject({ status: 'delivered', attempts: 1, crashes: 0 });
  });
});
