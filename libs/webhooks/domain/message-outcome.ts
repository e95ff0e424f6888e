/** Why a delivery is abandoned whose endpoint does not want messages of this type any more. */
export const TYPES_CHANGED = 'endpoint_types_changed';

/** The delivery of a message to an endpoint that has not got it. */
export interface Undelivered {
  readonly endpointId: string;
  /** Whether an attempt is left to make. */
  readonly isLeft: boolean;
  /** Why its attempts were abandoned; null when they were used up. */
  readonly abandoned: string | null;
  /** Whether the endpoint is enabled now and wants messages of the type: a message need not reach others. */
  readonly isWanted: boolean;
  /** Why the last attempt failed. */
  readonly error: string | null;
}

export type MessageOutcome =
  | { readonly status: 'delivered' }
  | { readonly status: 'failed'; readonly failureReason: string };

/**
 * How a message for webhooks ends. It has failed when an endpoint that still wants it has used up its attempts, or when no
 * endpoint at all has got it. The statement END_MESSAGES repeats this rule, and a property test compares them.
 * @param undelivered of the endpoints that have not got it
 * @param isDelivered whether any endpoint has got it
 * @returns null while an attempt is left to make
 */
export function messageOutcome(undelivered: readonly Undelivered[], isDelivered: boolean): MessageOutcome | null {
  if (undelivered.some(({ isLeft }) => isLeft)) return null;
  const failed = undelivered.filter(({ abandoned, isWanted }) => !isDelivered || (abandoned === null && isWanted));
  const [first] = failed.toSorted(
    (one, other) =>
      Number(one.abandoned !== null) - Number(other.abandoned !== null) || (one.endpointId < other.endpointId ? -1 : 1),
  );
  if (first === undefined) return { status: 'delivered' };
  const reason = first.abandoned ?? first.error;
  return { status: 'failed', failureReason: [first.endpointId, ...(reason === null ? [] : [reason])].join(': ') };
}
