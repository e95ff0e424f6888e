/**
 * The life of a message, in one table. The aggregate, the compare-and-set of the store, the database constraint,
 * the API description and the property test are derived from it or compared with it.
 */
export const TRANSITIONS = {
  startProcessing: { from: 'queued', to: 'processing' },
  /** A worker takes over from one that was lost. */
  takeOver: { from: 'processing', to: 'processing' },
  deliver: { from: 'processing', to: 'delivered' },
  /** An attempt failed, and another one is due. */
  requeue: { from: 'processing', to: 'queued' },
  fail: { from: 'processing', to: 'failed' },
  cancel: { from: 'queued', to: 'cancelled' },
  retry: { from: 'failed', to: 'queued' },
  /** No enabled endpoint of its account wants messages of its type. */
  skip: { from: 'queued', to: 'skipped' },
  /** It is sent to an endpoint after all. */
  replay: { from: 'skipped', to: 'queued' },
} as const;

export type Transition = keyof typeof TRANSITIONS;
export type MessageStatus = (typeof TRANSITIONS)[Transition]['from' | 'to'];

export const INITIAL_STATUS = 'queued' satisfies MessageStatus;

export const MESSAGE_STATUSES: readonly MessageStatus[] = [
  ...new Set<MessageStatus>([INITIAL_STATUS, ...Object.values(TRANSITIONS).map(({ to }) => to)]),
];

/** Statuses of messages that are still to be delivered: the ones that the census checks. */
export const OPEN_STATUSES: readonly MessageStatus[] = ['queued', 'processing'];
