import type { INestApplicationContext, Type } from '@nestjs/common';
import { ForgetKeys } from '#accounts/accounts.module.js';
import { ForgetJobs, ForgetTraces } from '#delivery/queue.module.js';
import { ForgetEvents } from '#events/events.module.js';
import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import { ForgetMessages } from '#messages/messages.module.js';
import { ForgetLimits } from '#rate-limiting/rate-limiting.module.js';
import { ForgetUsage } from '#usage/usage.module.js';
import { ForgetEndpoints } from '#webhooks/webhooks.module.js';

/**
 * What is removed of a deleted account, in this order; the account itself is last, in `PostgresDeletions`. Each context
 * removes what is in its tables. A new table with something of an account needs a line here:
 * test/e2e/admin/delete-account.spec.ts looks for the account in all tables.
 */
const FORGETTING: readonly Type<ForgetsAccounts>[] = [
  // First: workers of other programs do not ask whether the account is deleted.
  ForgetJobs,
  // While its messages can be counted.
  ForgetUsage,
  ForgetMessages,
  // Of messages that are gone, also of those whose jobs were added meanwhile.
  ForgetTraces,
  ForgetEvents,
  ForgetEndpoints,
  ForgetLimits,
  ForgetKeys,
];

export function openForgetting(app: INestApplicationContext): ForgetsAccounts[] {
  return FORGETTING.map((type) => app.get(type));
}
