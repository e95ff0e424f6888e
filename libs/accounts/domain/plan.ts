import type { Limits } from './limits.js';

/** What an account has bought. */
export const PLANS = ['free', 'pro', 'business', 'enterprise'] as const;
export type Plan = (typeof PLANS)[number];

/**
 * Requests that a plan includes. Each account keeps its own copy, so a change here takes a migration for those that
 * there are. Enterprise limits are agreed individually; until they are, those of business hold.
 */
export const PLAN_LIMITS: Readonly<Record<Plan, Limits>> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: { perMinute: 1_000, perDay: 100_000 },
};
