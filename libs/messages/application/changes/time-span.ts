import { ValidationError } from '#kernel/domain-error.js';
import type { TimeSpan } from '../messages.js';

/** @throws ValidationError when `until` is not after `since` */
export function requireOrdered({ since, until }: TimeSpan): void {
  if (since !== null && until !== null && until <= since)
    throw new ValidationError([{ pointer: '/until', detail: 'until must be after since.' }]);
}
