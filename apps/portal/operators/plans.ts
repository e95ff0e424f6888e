import type { Plan } from '#client/index.js';

const LABELS: Readonly<Record<Plan, string>> = {
  free: 'free',
  pro: 'pro',
  business: 'business',
  enterprise: 'enterprise',
};

export const PLANS = (Object.entries(LABELS) as [Plan, string][]).map(([value, label]) => ({ value, label }));
