export { AUTHENTICATED, AuthenticateCaller, unauthorized } from './application/authenticate-caller.js';
export type { Authenticated } from './application/authenticate-caller.js';
export { Audit, difference, type Audited, type AuditedChange } from './application/audit.js';
export { Plans } from './application/plans.js';
export { SignUp } from './application/sign-up.js';
export { accountNotFound, accountSuspended } from './domain/account.js';
export type { Plan } from './domain/plan.js';
