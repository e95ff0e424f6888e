interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** The values that a consumer may request, as whole numbers, and the defaults. */
export const LEASED_MESSAGES = { min: 1, max: 100, initial: 10 } satisfies Bounds & { initial: number };
export const LEASE_SECONDS = { min: 1, max: 3_600, initial: 30 } satisfies Bounds & { initial: number };
/** How long a request waits while no message is available. */
export const WAIT_SECONDS = { min: 0, max: 20, initial: 0 } satisfies Bounds & { initial: number };
/** When a rejected message is available again. The settings decide if the consumer does not. */
export const DELAY_SECONDS = { min: 0, max: 86_400 } satisfies Bounds;
/** Leases that one request acknowledges. */
export const ACKNOWLEDGED_LEASES = { min: 1, max: 1_000 } satisfies Bounds;
