import { ValidationError } from '#kernel/domain-error.js';
import type { Plan } from './plan.js';

export const MAX_NAME_LENGTH = 100;

/** Who sends messages, is held to a plan and owns keys. */
export class Account {
  constructor(
    readonly id: string,
    readonly name: string,
    readonly plan: Plan,
    readonly createdAt: Date,
  ) {}

  /** @throws ValidationError when the name is empty, too long or can't be stored */
  static open(id: string, name: string, at: Date): Account {
    const fault = nameFault(name);
    if (fault !== null) throw new ValidationError([{ pointer: '/name', detail: fault }]);
    return new Account(id, name, 'free', at);
  }
}

/** What keeps a text from being a name, as a sentence; null when nothing does. */
export function nameFault(name: string): string | null {
  if (name.trim() === '' || name.length > MAX_NAME_LENGTH) {
    return `name must be 1 to ${MAX_NAME_LENGTH} characters that are not all blank.`;
  }
  if (name.includes('\u0000') || !name.isWellFormed()) return 'name must not contain U+0000 or lone surrogates.';
  return null;
}
