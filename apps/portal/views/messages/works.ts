import { ConflictError, NotFoundError, RateLimitError, type Message, type MessageStatus } from '#client/index.js';
import { call, pause } from '../../session/connection.js';
import { AT_ONCE } from './at-once.js';
import type { Filter } from './filter.js';

export const WORKS = ['retry', 'cancel', 'replay'] as const;
export type Work = (typeof WORKS)[number];

/** Of which status a message must be for it. A replay is for what an endpoint has missed. */
export const NEEDED: Readonly<Record<Work, MessageStatus>> = { retry: 'failed', cancel: 'queued', replay: 'failed' };

/** Why a replay has found nothing. */
export const NOTHING_TO_REPLAY =
  'Nothing to replay: the endpoint has, or still gets, every message of this period that its types match and that was for webhooks.';

/** As many are counted, each hundred of them by a request of the plan; the last pages of a list are long. */
export const MAX_COUNTED = 1_000;
const PAGE_SIZE = 100;

/** Whether all that match can be meant: endpoints have no messages to retry or cancel, but what they missed. */
export function canDoAll(work: Work, { status, endpointId }: Filter): boolean {
  return (work === 'replay') === (endpointId !== undefined) && (status === undefined || status === NEEDED[work]);
}

/** The messages that match and can be changed, the newest first. @param until those that are accepted later do not count */
export async function counted(work: Work, filter: Filter, until: string): Promise<Message[]> {
  const found: Message[] = [];
  let cursor: string | undefined;
  do {
    const query = { until, ...filter, status: NEEDED[work], limit: PAGE_SIZE, cursor, preview: 1 };
    const page = await call((client) => client.messages.list(query).page());
    found.push(...page.data);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && found.length < MAX_COUNTED);
  return found;
}

/** Changes all that match by few requests, unless nobody wants the next one any more. */
export function allAtOnce(work: Work, filter: Filter, until: string): (isStopped: () => boolean) => Promise<number> {
  const { type, since, endpointId } = filter;
  const period = { since: since ?? new Date(0).toISOString(), until: filter.until ?? until };
  const request = () =>
    call((client) => {
      if (endpointId !== undefined) return client.endpoints.replay(endpointId, period);
      return client.messages[work === 'retry' ? 'retryAll' : 'cancelAll']({ ...period, type });
    });
  return async (isStopped) => {
    let total = 0;
    for (;;) {
      const { count } = await request();
      total += count;
      if (count < AT_ONCE[work] || isStopped()) return total;
    }
  };
}

/**
 * What kept one message from being changed; errors that concern all of them are thrown.
 * @returns null if nothing did, or if nobody wants it any more
 */
export async function changeOne(
  work: 'retry' | 'cancel',
  id: string,
  isStopped: () => boolean,
): Promise<ConflictError | NotFoundError | null> {
  for (;;) {
    try {
      await call((client) => client.messages[work](id));
      return null;
    } catch (error) {
      if (error instanceof ConflictError || error instanceof NotFoundError) return error;
      if (!(error instanceof RateLimitError)) throw error;
      await endOfPause();
      if (isStopped()) return null;
    }
  }
}

/** Resolves when requests are admitted again. */
function endOfPause(): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = pause.subscribe((held) => {
      if (held !== null) return;
      resolve();
      queueMicrotask(() => {
        unsubscribe();
      });
    });
  });
}
