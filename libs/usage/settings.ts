import type { Environment } from '#platform/process/environment.js';

/** How long the counts of accepted messages are kept. */
export function readUsageSettings(env: Environment) {
  return { usageDays: env.integer('USAGE_DAYS', 400, 1, 3_650) };
}

export type UsageSettings = ReturnType<typeof readUsageSettings>;
