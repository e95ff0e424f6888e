import type { Environment } from '#platform/process/environment.js';
import { matching } from '#platform/process/formats.js';
import { PLAN_NAME } from './domain/plan.js';

const PLAN = matching('the name of a plan, 1 to 40 of `a-z 0-9 -`', (name) => PLAN_NAME.test(name));
const SECRET = matching('a secret of at least 32 characters', ({ length }) => length >= 32, true);

/** How keys are stored, and who may sign up. */
export function readAccountsSettings(env: Environment) {
  return {
    apiKeyPepper: env.required(
      'API_KEY_PEPPER',
      'a secret of at least 32 characters under which API keys are hashed, the same for every process',
      SECRET,
    ),
    apiKeyPepperPrevious: env.read('API_KEY_PEPPER_PREVIOUS', null, SECRET),
    signup: {
      open: env.oneOf('SIGNUP', 'closed', ['open', 'closed']) === 'open',
      perHour: env.integer('SIGNUPS_PER_HOUR', 20, 0, 1_000_000),
      plan: env.read('SIGNUP_PLAN', 'free', PLAN),
    },
  };
}

export type AccountsSettings = ReturnType<typeof readAccountsSettings>;
