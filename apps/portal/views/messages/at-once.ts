/** How many messages one request changes at most: if it changes fewer, none are left. */
export const AT_ONCE = { retry: 100_000, cancel: 1_000_000, replay: 1 } as const;
