import type { Environment } from '#platform/process/environment.js';

/** How often open messages are checked, and how long final ones are kept. */
export function readUpkeepSettings(env: Environment) {
  return {
    reconcileIntervalMs: env.integer('RECONCILE_INTERVAL_MS', 30_000, 100, 86_400_000),
    retentionDays: env.integer('RETENTION_DAYS', 30, 1, 3_650),
  };
}

export type UpkeepSettings = ReturnType<typeof readUpkeepSettings>;
