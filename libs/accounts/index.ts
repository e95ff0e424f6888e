export { AUTHENTICATED, AuthenticateCaller, unauthorized } from './application/authenticate-caller.js';
export type { Authenticated } from './application/authenticate-caller.js';
export { Audit } from './application/audit.js';
export { SignUp } from './application/sign-up.js';
export { accountNotFound, accountSuspended } from './domain/account.js';
