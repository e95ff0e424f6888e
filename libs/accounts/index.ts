export { CreateApiKey, ListApiKeys, RevokeApiKey, RotateApiKey, type IssuedKey } from './application/api-keys.js';
export {
  AUTHENTICATED,
  AuthenticateCaller,
  unauthorized,
  type Authenticated,
  type Caller,
} from './application/authenticate-caller.js';
export { ChangePlan, GetAccount, ListAccounts } from './application/plans.js';
export { SignUp, type SignedUp } from './application/sign-up.js';
export type { Account } from './domain/account.js';
export type { ApiKey, Scope } from './domain/api-key.js';
export type { Limits } from './domain/limits.js';
export { PLAN_LIMITS, type Plan } from './domain/plan.js';
