import { setImmediate as loopIteration } from 'node:timers/promises';
import { Worker } from '../../../test/contracts/fakes/delivering.js';
import { aClaim, claimTerms, jobOf } from '../../../test/support/messages.js';
import type { Message } from '#messages/domain/message.js';

/** What a message looks like whose worker was lost while it had it. */
const lost = { status: 'processing', attempts: 1, claim: aClaim() } as const;
const lostAlone = { ...lost, claim: aClaim({ alone: true }) };

/** A worker whose handler works until the test lets each message go. */
function slowWorker() {
  const ends = new Map<string, () => void>();
  const worker = new Worker(({ id }) => new Promise<void>((end) => ends.set(id, end)));
  return {
    worker,
    running: () => [...ends.keys()],
    end: async ({ id }: Message) => {
      ends.get(id)?.();
      ends.delete(id);
      await loopIteration();
    },
  };
}

describe('DeliverMessage, after crashes', () => {
  it('delivers what a dead worker had begun, beside others', async () => {
    const { worker, running, end } = slowWorker();
    const [neighbour, once] = [worker.has(), worker.has(lost)];
    const runs = [worker.run(neighbour), worker.run(once)];
    await loopIteration();
    expect(running()).toEqual([neighbour.id, once.id]);
    await end(neighbour);
    await end(once);
    expect(await Promise.all(runs)).toEqual([{ kind: 'done' }, { kind: 'done' }]);
    expect(worker.stored(once)).toMatchObject({ status: 'delivered', attempts: 2, crashes: 1, loneCrashes: 0 });
  });

  it('does not take a job over from itself, when it was too busy to renew its lock', async () => {
    const { worker, running, end } = slowWorker();
    const message = worker.has();
    const first = worker.run(message);
    await loopIteration();
    expect(await worker.run(message)).toEqual({ kind: 'again', afterMs: 1_000 });
    expect(worker.stored(message)).toMatchObject({ status: 'processing', attempts: 1, crashes: 0 });
    expect(running()).toEqual([message.id]);
    await end(message);
    expect(await first).toEqual({ kind: 'done' });
    expect(await worker.run(message)).toEqual({ kind: 'done' });
    expect(worker.stored(message)).toMatchObject({ status: 'delivered', attempts: 1, crashes: 0 });
  });

  it('runs a message alone that was taken over twice, after those before it and before those after it', async () => {
    const { worker, running, end } = slowWorker();
    const [before, suspect, later] = [worker.has(), worker.has({ ...lost, attempts: 2, crashes: 1 }), worker.has()];
    const runs = [worker.run(before), worker.run(suspect)];
    await loopIteration();
    runs.push(worker.run(later));
    await loopIteration();
    expect(running()).toEqual([before.id]);
    await end(before);
    expect(running()).toEqual([suspect.id]);
    expect(worker.stored(suspect).claim).toMatchObject({ alone: true });
    await end(suspect);
    expect(running()).toEqual([later.id]);
    await end(later);
    expect(await Promise.all(runs)).toEqual(Array(3).fill({ kind: 'done' }));
    expect(worker.stored(suspect)).toMatchObject({ status: 'delivered', attempts: 3, crashes: 2, loneCrashes: 0 });
  });

  it('does not run a suspect that was taken over by another worker while it waited', async () => {
    const { worker, running, end } = slowWorker();
    const [before, suspect] = [worker.has(), worker.has({ ...lost, crashes: 1 })];
    const runs = [worker.run(before), worker.run(suspect)];
    await loopIteration();
    await worker.deliveries.claim(jobOf(suspect), claimTerms());
    await end(before);
    expect(await Promise.all(runs)).toEqual([{ kind: 'done' }, { kind: 'done' }]);
    expect(running()).toEqual([]);
    expect(worker.stored(suspect)).toMatchObject({ status: 'processing', crashes: 3 });
  });

  it('leaves it a crash when a suspect was taken over that ran alone: it may have kept its worker busy', async () => {
    const { worker, running, end } = slowWorker();
    const suspect = worker.has({ ...lost, crashes: 1 });
    const run = worker.run(suspect);
    await loopIteration();
    expect(running()).toEqual([suspect.id]);
    await worker.deliveries.claim(jobOf(suspect), claimTerms());
    await end(suspect);
    expect(await run).toEqual({ kind: 'done' });
    expect(worker.stored(suspect)).toMatchObject({ status: 'processing', crashes: 3, loneCrashes: 1 });
  });

  it('renews the claim of a suspect when its turn comes', async () => {
    const { worker, end } = slowWorker();
    const [before, suspect] = [worker.has(), worker.has({ ...lost, crashes: 1 })];
    const runs = [worker.run(before), worker.run(suspect)];
    await loopIteration();
    const first = worker.stored(suspect).claim?.expiresAt.getTime() ?? 0;
    worker.store.clock.advance(20_000);
    await end(before);
    expect(worker.stored(suspect).claim?.expiresAt.getTime()).toBe(first + 20_000);
    await end(suspect);
    await Promise.all(runs);
  });

  it('goes on with a message that killed its worker alone twice', async () => {
    const worker = new Worker();
    const message = worker.has({ ...lostAlone, crashes: 3, loneCrashes: 1 });
    expect(await worker.run(message)).toEqual({ kind: 'done' });
    expect(worker.stored(message)).toMatchObject({ status: 'delivered', loneCrashes: 2 });
  });

  it('fails a message that killed its worker alone three times, without calling the handler again', async () => {
    const worker = new Worker();
    const message = worker.has({ ...lostAlone, crashes: 4, loneCrashes: 2 });
    expect(await worker.run(message)).toEqual({ kind: 'failed', reason: 'worker_lost' });
    expect(worker.calls).toEqual([]);
    expect(worker.stored(message)).toMatchObject({ status: 'failed', failureReason: 'worker_lost', loneCrashes: 3 });
  });

  it('never fails a message for crashes in company, however many', async () => {
    const worker = new Worker();
    const message = worker.has({ ...lost, attempts: 1_000, crashes: 999 });
    expect(await worker.run(message)).toEqual({ kind: 'done' });
    expect(worker.stored(message)).toMatchObject({ status: 'delivered', crashes: 1_000, failures: 0 });
  });
});
