import { PermissionError, SluiceError, type HeldMessage, type Sluice } from '#client/index.js';
import { visible, type Output } from './output.js';
import { confirm } from './prompts.js';
import { onStop } from './signals.js';

interface Consumption {
  readonly sluice: Sluice;
  readonly output: Output;
  readonly concurrency: number;
  readonly leaseSeconds: number;
  readonly limit?: number | undefined;
}

/** Handles a message until the signal is aborted. @returns null if it succeeded, else the reason */
type Handle = (message: HeldMessage, signal: AbortSignal) => Promise<string | null>;

/**
 * Pulls messages until Ctrl-C, SIGTERM or the limit: then it takes no more and finishes what it has begun. A second signal
 * ends that as well, and rejects what is not finished.
 */
export async function consume(
  { sluice, output, concurrency, leaseSeconds, limit = Infinity }: Consumption,
  handle: Handle,
): Promise<void> {
  const stop = new AbortController();
  const kill = new AbortController();
  const running = new Set<Promise<void>>();
  let isInterrupted = false;
  const ignoreSignals = onStop(() => {
    if (isInterrupted) kill.abort();
    else if (running.size > 0) output.note('Finishing what has begun. Press Ctrl-C again to end it at once.');
    isInterrupted = true;
    stop.abort();
  });
  const messages = sluice.consume({
    concurrency: Math.min(concurrency, limit),
    leaseSeconds,
    signal: stop.signal,
    onError: ({ message }) => {
      output.warn(`${message} Trying again …`);
    },
  });
  let taken = 0;
  try {
    for await (const message of messages) {
      // Whoever else has got a message whose lease is lost should be alone with it.
      const signal = AbortSignal.any([kill.signal, message.signal]);
      const task = settle(message, output, handle(message, signal)).finally(() => running.delete(task));
      running.add(task);
      // Leaving the loop would reject what is running.
      if (++taken >= limit) stop.abort();
    }
  } finally {
    await Promise.all(running);
    ignoreSignals();
  }
}

async function settle(message: HeldMessage, output: Output, handled: Promise<string | null>): Promise<void> {
  const startedAt = Date.now();
  const { id, attempt } = message;
  const reason = await handled;
  try {
    await (reason === null ? message.ack() : message.nack({ reason }));
  } catch (error) {
    // It is delivered again when its lease expires: no reason to keep the others waiting.
    if (!(error instanceof SluiceError)) throw error;
    output.warn(`${id}: ${error.message}`);
    return;
  }
  const durationMs = Date.now() - startedAt;
  const outcome = reason === null ? 'acknowledged' : 'rejected';
  if (output.isJson) output.item({ id, attempt, outcome, reason, durationMs }, () => '');
  else if (reason === null) output.success(`${id} acknowledged after ${durationMs} ms`);
  else output.warn(`${id} rejected after ${durationMs} ms, attempt ${attempt}: ${visible(reason)}`);
}

/** Messages can be pulled only from an account that has chosen it. */
export async function requirePull(sluice: Sluice, isConfirmed: boolean | undefined): Promise<void> {
  try {
    const { delivery } = await sluice.account.get();
    if (delivery === 'pull') return;
    await confirm(
      `The delivery mode of the account is ${delivery}, so that nothing can be pulled. Change it to pull?`,
      isConfirmed,
    );
    await sluice.account.update({ delivery: 'pull' });
  } catch (error) {
    // A key that may only consume cannot look.
    if (!(error instanceof PermissionError)) throw error;
  }
}
