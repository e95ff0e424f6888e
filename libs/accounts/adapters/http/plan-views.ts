import { pageModel } from '#platform/http/body/paging.js';
import { nullable, viewModel } from '#platform/http/openapi/schema.js';
import type { UsedPlan } from '../../application/plans.js';
import { MAX_PLAN_ENDPOINTS, PLAN_NAME, type PlanTerms } from '../../domain/plan.js';
import { LIMITS } from './views.js';

export function planView({ name, accounts, version, ...plan }: UsedPlan) {
  return { name, ...termsView(plan), accounts, version };
}

/** What an operator decides about a plan. */
export function termsView({ limits, maxStoredBytes, maxEndpoints }: PlanTerms): PlanTerms {
  return { limits, maxStoredBytes, maxEndpoints };
}

export const PLAN_NAME_SCHEMA = {
  type: 'string',
  pattern: PLAN_NAME.source,
  description: 'The name of the plan.',
  examples: ['gold'],
};

/** JSON Schema of the fields that an operator decides. */
export const TERMS = {
  limits: nullable({
    $ref: LIMITS,
    description:
      'The request limits of each account. Null: they are agreed with each account. Until that is done, the limits that ' +
      'the plan had last apply to it; a plan that never had any begins with 1,000 a minute and 100,000 a day.',
    examples: [{ perMinute: 600, perDay: 50_000 }],
  }),
  maxStoredBytes: nullable({
    type: 'integer',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'The bytes that an account may store. Null: as configured with `MAX_STORED_MB_PER_ACCOUNT` and others.',
    examples: [10_737_418_240],
  }),
  maxEndpoints: nullable({
    type: 'integer',
    minimum: 0,
    maximum: MAX_PLAN_ENDPOINTS,
    description: 'The endpoints that an account may have. Null: 50. An account that has more keeps them.',
    examples: [20],
  }),
};

export const PLAN_VIEW = viewModel<ReturnType<typeof planView>>('Plan', 'A plan that accounts can have.', {
  name: PLAN_NAME_SCHEMA,
  ...TERMS,
  accounts: { type: 'integer', minimum: 0, description: 'How many accounts have it.', examples: [12] },
  version: { type: 'integer', minimum: 1, description: 'Grows with every change. It is the `ETag`.', examples: [7] },
});

export const PLAN_PAGE = pageModel(PLAN_VIEW, 'A page of a list, by name.');
