import type { Plan } from '#accounts/domain/plan.js';

/** A plan; what isn't given is as in a new one. */
export function aPlan(name: string, [perMinute, perDay]: readonly [number, number], hasLimits = true): Plan {
  const initialLimits = { perMinute, perDay };
  return {
    ...{ name, initialLimits, limits: hasLimits ? initialLimits : null },
    ...{ maxStoredBytes: null, maxEndpoints: null, version: 1 },
  };
}

/** Plans that a new installation has. */
export const FREE = aPlan('free', [60, 1_000]);
export const PRO = aPlan('pro', [300, 10_000]);
export const ENTERPRISE = aPlan('enterprise', [1_000, 100_000], false);
