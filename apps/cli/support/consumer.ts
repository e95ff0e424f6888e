import {
  PermissionError,
  SluiceError,
  type Account,
  type ConsumeOptions,
  type DeliveryMode,
  type HeldMessage,
} from '#client/index.js';
import type { Context } from './context.js';
import { reasonOf } from './errors.js';
import { CliError } from './exit-codes.js';
import { count, type Output } from './output.js';
import { outputClosed } from './pipes.js';
import { confirm } from './prompts.js';
import { onStop } from './signals.js';
import { visible } from './visible.js';

interface Consumption extends Pick<ConsumeOptions, 'concurrency' | 'leaseSeconds' | 'limit' | 'onLease'> {
  readonly context: Context;
}

/** Handles a message until the signal is aborted. @returns null if it succeeded, else the reason */
type Handle = (message: HeldMessage, signal: AbortSignal) => Promise<string | null>;

/** A lease lasts at least so long: shorter faults of the network cost none. */
export const MIN_LEASE_SECONDS = 120;

/**
 * Pulls messages until Ctrl-C, SIGTERM, SIGHUP, the limit, or nobody reads the output: then it takes no more and
 * finishes the messages that it has. A second signal ends this as well and rejects the rest.
 */
export async function consume({ context, ...options }: Consumption, handle: Handle): Promise<void> {
  const { output } = context;
  const sluice = context.sluice({ maxTries: Infinity });
  const stop = new AbortController();
  const kill = new AbortController();
  const running = new Set<Promise<unknown>>();
  let unknown = 0;
  let isInterrupted = false;
  onStop(() => {
    if (isInterrupted) kill.abort();
    else if (running.size > 0) output.note('Finishing what has begun. Press Ctrl-C again to end it at once.');
    isInterrupted = true;
    stop.abort();
  });
  const messages = sluice.consume({
    ...options,
    signal: AbortSignal.any([stop.signal, outputClosed]),
    onError: (error) => {
      output.warn(`${reasonOf(error)} Trying again …`);
    },
  });
  try {
    for await (const message of messages) {
      // Another consumer may have a message whose lease is lost, and should be the only one to process it.
      const signal = AbortSignal.any([kill.signal, message.signal]);
      const task = settle(message, output, handle(message, signal))
        .then((isSettled) => (unknown += isSettled ? 0 : 1))
        .finally(() => running.delete(task));
      running.add(task);
    }
  } finally {
    await Promise.all(running);
  }
  if (unknown > 0) throw new CliError(`The service has not confirmed the outcome of ${count(unknown, 'message')}.`);
  if (outputClosed.aborted) throw new CliError('The output was closed.');
}

/** @returns false if the service has not confirmed the outcome */
async function settle(message: HeldMessage, output: Output, handled: Promise<string | null>): Promise<boolean> {
  const startedAt = Date.now();
  const { id, attempt } = message;
  const reason = await handled;
  let outcome = reason === null ? 'acknowledged' : 'rejected';
  try {
    await (reason === null ? message.ack() : message.nack({ reason }));
  } catch (error) {
    // It is delivered again when its lease expires: no reason to keep the others waiting.
    if (!(error instanceof SluiceError)) throw error;
    output.warn(`${id}: ${reasonOf(error)}`);
    outcome = 'unknown';
  }
  const durationMs = Date.now() - startedAt;
  if (output.isJson) output.item({ id, attempt, outcome, reason, durationMs }, () => '');
  else if (outcome === 'acknowledged') output.success(`${id} ${outcome} after ${durationMs} ms`);
  else if (outcome === 'rejected') {
    output.warn(`${id} ${outcome} after ${durationMs} ms, attempt ${attempt}: ${reason ?? ''}`);
  }
  return outcome !== 'unknown';
}

/**
 * Messages can be pulled only from an account that has chosen it. What was changed for that is said again at the end.
 * @returns says what keeps messages from being pulled, once for each change
 */
export async function requirePull(
  context: Context,
  isConfirmed: boolean | undefined,
): Promise<NonNullable<ConsumeOptions['onLease']>> {
  const { output } = context;
  const sluice = context.sluice();
  const tell = telling(output);
  let known: Pick<Account, 'delivery'> | null = null;
  try {
    const { delivery, paused } = await sluice.account.get();
    tell({ paused });
    known = { delivery: 'pull' };
    if (delivery !== 'pull') {
      await confirm(`${otherwise(delivery)} Change it to pull?`, isConfirmed);
      await sluice.account.update({ delivery: 'pull' });
      process.once('exit', () => {
        output.warn(`The delivery mode of the account is pull now. To restore it: sluice delivery ${delivery}`);
      });
    }
  } catch (error) {
    // A key that may only consume cannot look.
    if (!(error instanceof PermissionError)) throw error;
  }
  return async ({ data, paused }) => {
    // Only an empty response, after a wait, needs a reason.
    if (known !== null && data.length === 0 && paused === undefined) {
      known = await sluice.account.get().catch(() => known);
    }
    tell({ ...known, paused: paused === true });
  };
}

function telling(output: Output) {
  let told: string | null = null;
  return ({ paused = false, delivery = 'pull' }: { readonly paused?: boolean; readonly delivery?: DeliveryMode }) => {
    const hindrance = paused
      ? 'The account is paused: nothing can be pulled until `sluice resume`.'
      : delivery === 'pull'
        ? null
        : otherwise(delivery);
    if (hindrance === told) return;
    told = hindrance;
    if (hindrance === null) output.note('Messages can be pulled again.');
    else output.warn(hindrance);
  };
}

function otherwise(delivery: DeliveryMode): string {
  return `The delivery mode of the account is ${visible(delivery)}, so that nothing new can be pulled.`;
}
