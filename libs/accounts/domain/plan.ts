import type { Limits } from '#kernel/limits.js';

export const PLANS = ['free', 'pro', 'business', 'enterprise'] as const;
export type Plan = (typeof PLANS)[number];

/**
 * Requests that a plan includes. Each account stores its own copy, so a change here needs a migration of the existing
 * accounts. Enterprise limits are agreed individually; until then the limits of the business plan apply.
 */
export const PLAN_LIMITS: Readonly<Record<Plan, Limits>> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: { perMinute: 1_000, perDay: 100_000 },
};
