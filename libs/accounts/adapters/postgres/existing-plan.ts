import { UsageError } from '#platform/process/usage-error.js';
import type { Plans } from '../../application/plans.js';
import type { AccountsSettings } from '../../settings.js';

/** @throws UsageError when the plan of new accounts does not exist */
export async function existingSignupPlan({ signup }: AccountsSettings, plans: Plans): Promise<string> {
  if ((await plans.find(signup.plan)) !== null) return signup.plan;
  throw new UsageError(
    `SIGNUP_PLAN must be the name of a plan that exists; it is "${signup.plan}". Create the plan first, with PUT /admin/plans/${signup.plan}.`,
  );
}
