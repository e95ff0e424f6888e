import { ValidationError } from '#kernel/domain-error.js';
import type { Page } from '#kernel/page.js';
import type { Plan, PlanTerms } from '../domain/plan.js';

/** A plan with the number of accounts that have it. */
export interface UsedPlan extends Plan {
  readonly accounts: number;
}

/** The state in which a plan must be to be changed: one of these versions, `'any'`, or `'none'` if it must not exist. */
export type Expected = readonly number[] | 'any' | 'none';

export interface PutResult {
  /** As it was; null if it was created. */
  readonly before: Plan | null;
  readonly after: UsedPlan;
}

/** How many plans a sentence names. */
const NAMED = 50;

/**
 * The store of plans. A change of a plan is one row: every hit reads the limits of the plan of its account. An account
 * always has a plan that exists.
 */
export abstract class Plans {
  /** In a transaction, the plan cannot be deleted before it ends. */
  abstract find(name: string): Promise<Plan | null>;

  abstract get(name: string): Promise<UsedPlan | null>;

  /** By name. @param page `before`: only plans whose name sorts after it */
  abstract list(page: Page): Promise<UsedPlan[]>;

  /**
   * Creates a plan or replaces its terms. Terms that it has already change nothing, whatever is expected.
   * @throws DomainError `plan_changed` when it is not as expected
   */
  abstract put(name: string, terms: PlanTerms, expected: Expected | null): Promise<PutResult>;

  /**
   * @returns the plan as it was
   * @throws DomainError `plan_not_found`, `plan_in_use` when an account has it or new accounts get it, `plan_changed`
   */
  abstract remove(name: string, expected: Expected | null): Promise<Plan>;

  /**
   * The plan that an account is to get.
   * @throws ValidationError that names the plans, when there is no such one
   */
  async require(name: string): Promise<Plan> {
    const plan = await this.find(name);
    if (plan !== null) return plan;
    const plans = await this.list({ limit: NAMED + 1, before: null });
    const more = plans.length > NAMED ? ' or another one of GET /admin/plans' : '';
    const names = plans.slice(0, NAMED).map((one) => one.name);
    throw new ValidationError([{ pointer: '/plan', detail: `plan must be one of ${names.join(', ')}${more}.` }]);
  }
}
