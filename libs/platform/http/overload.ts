import { DomainError } from '#kernel/domain-error.js';
import type { AddressBudget } from './address-budget.js';
import type { Check } from './gate.js';
import { UNAVAILABLE_RETRY_AFTER } from './problems.js';
import { exhausted } from './rate-limit-headers.js';

const OVERLOADED = new DomainError('unavailable', 'There is more to do than can be done in time. Repeat later.');

/** Refuses everything, without a look at who asks, while there is more to do than can be done in time. */
export function refuseUnderLoad(strangers: AddressBudget, isOverloaded: () => boolean): Check {
  return ({ socket }) =>
    isOverloaded()
      ? { error: OVERLOADED, windows: exhausted([strangers.peek(socket.remoteAddress ?? '')], UNAVAILABLE_RETRY_AFTER) }
      : null;
}
