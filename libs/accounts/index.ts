export { AuthenticateCaller, type Caller } from './application/authenticate-caller.js';
export { SignUp, type SignedUp } from './application/sign-up.js';
export type { Account } from './domain/account.js';
export type { ApiKey, Scope } from './domain/api-key.js';
export type { Plan } from './domain/plan.js';
