import { ValidationError } from '#kernel/domain-error.js';
import type { Limits } from './limits.js';
import { PLAN_LIMITS, type Plan } from './plan.js';

/** Characters: what Unicode calls code points. */
export const MAX_NAME_LENGTH = 100;

/** Who sends messages, is held to a plan and owns keys. */
export class Account {
  constructor(
    readonly id: string,
    readonly name: string,
    readonly plan: Plan,
    readonly limits: Limits,
    readonly createdAt: Date,
  ) {}

  /** @throws ValidationError when the name is empty, too long or can't be stored */
  static open(id: string, name: string, at: Date): Account {
    const fault = nameFault(name);
    if (fault !== null) throw new ValidationError([{ pointer: '/name', detail: fault }]);
    return new Account(id, name, 'free', PLAN_LIMITS.free, at);
  }

  /**
   * @param plan null keeps the plan
   * @param limits what was agreed individually; null keeps what holds, or takes what the new plan includes
   * @throws ValidationError when limits are given for another plan than enterprise
   */
  changePlan(plan: Plan | null, limits: Limits | null): Account {
    const next = plan ?? this.plan;
    if (limits !== null && next !== 'enterprise') {
      throw new ValidationError([{ pointer: '/limits', detail: 'limits can be set only with the plan enterprise.' }]);
    }
    const kept = next === this.plan ? this.limits : PLAN_LIMITS[next];
    return new Account(this.id, this.name, next, limits ?? kept, this.createdAt);
  }
}

/** What keeps a text from being a name, as a sentence; null when nothing does. */
export function nameFault(name: string): string | null {
  // A character is one or two units of UTF-16, so a text of very many need not be counted.
  const tooLong = name.length > 2 * MAX_NAME_LENGTH || Array.from(name).length > MAX_NAME_LENGTH;
  if (tooLong || name.trim() === '') {
    return `name must be 1 to ${MAX_NAME_LENGTH} characters that are not all blank.`;
  }
  if (name.includes('\u0000') || !name.isWellFormed()) return 'name must not contain U+0000 or lone surrogates.';
  return null;
}
