import type { Environment } from '#platform/process/environment.js';

/** When keys are banned, and the requests without a valid key. Times are in milliseconds. */
export function readRateLimitingSettings(env: Environment) {
  return {
    anonymousPerMinute: env.integer('ANONYMOUS_PER_MINUTE', 300, 1, 1_000_000),
    bans: {
      graceMs: 1_000 * env.integer('BAN_GRACE_SECONDS', 2, 0, 3_600),
      afterRefusals: env.integer('BAN_AFTER_REFUSALS', 30, 1, 1_000_000),
      banMs: 1_000 * env.integer('BAN_SECONDS', 60, 1, 86_400),
      maxBanMs: 1_000 * env.integer('BAN_MAX_SECONDS', 3_600, 1, 604_800),
    },
  };
}

export type RateLimitingSettings = ReturnType<typeof readRateLimitingSettings>;
