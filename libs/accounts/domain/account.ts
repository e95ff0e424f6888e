import { INITIAL_DELIVERY_MODE, type DeliveryMode } from '#kernel/delivery-mode.js';
import { DomainError, ValidationError } from '#kernel/domain-error.js';
import { isLongerThan, isStorable } from '#kernel/text.js';
import type { Limits } from '#kernel/limits.js';
import { limitsOf, type AgreedLimits, type Plan } from './plan.js';

/** Unicode code points. */
export const MAX_NAME_LENGTH = 100;

/** What operators may call an account: 1 to 255 visible ASCII characters. */
export const EXTERNAL_ID = /^[!-~]{1,255}$/;

const NONE_AGREED: AgreedLimits = { perMinute: null, perDay: null };

/** Sends messages, has a plan and owns keys. */
export class Account {
  constructor(
    readonly id: string,
    readonly name: string,
    /** The name of its plan. */
    readonly plan: string,
    /** In force: of its plan, or agreed. */
    readonly limits: Limits,
    readonly createdAt: Date,
    /** Its keys are refused, and its messages are not delivered. */
    readonly suspended = false,
    /** Of the messages that are accepted from now on. */
    readonly delivery: DeliveryMode = INITIAL_DELIVERY_MODE,
    /** Its messages are accepted, and not delivered. */
    readonly paused = false,
    /** What the operator's own systems call it; unique. */
    readonly externalId: string | null = null,
    readonly agreed: AgreedLimits = NONE_AGREED,
  ) {}

  /** @throws ValidationError when the name is invalid */
  static open(id: string, name: string, plan: Plan, at: Date): Account {
    assertName(name);
    return new Account(id, name, plan.name, limitsOf(plan, NONE_AGREED), at);
  }

  /**
   * @param plan the new plan, or the one that it has
   * @param limits agreed with the account; null keeps those that were agreed, unless the plan changes
   * @throws ValidationError when limits are given and the plan has its own
   */
  changePlan(plan: Plan, limits: Limits | null): Account {
    if (limits !== null && plan.limits !== null) {
      const detail = `limits can be set only with a plan whose limits are agreed with each account. ${plan.name} has its own.`;
      throw new ValidationError([{ pointer: '/limits', detail }]);
    }
    const agreed = limits ?? (plan.name === this.plan ? this.agreed : NONE_AGREED);
    return this.with({ plan: plan.name, limits: limitsOf(plan, agreed), agreed });
  }

  /** @throws ValidationError when the name is invalid */
  rename(name: string): Account {
    assertName(name);
    return this.with({ name });
  }

  /**
   * @param externalId null for none
   * @throws ValidationError when it is not 1 to 255 visible ASCII characters
   */
  changeExternalId(externalId: string | null): Account {
    const error = externalId === null ? null : externalIdError(externalId);
    if (error !== null) throw new ValidationError([{ pointer: '/externalId', detail: error }]);
    return this.with({ externalId });
  }

  suspend(): Account {
    return this.with({ suspended: true });
  }

  resume(): Account {
    return this.with({ suspended: false });
  }

  changeDelivery(delivery: DeliveryMode): Account {
    return this.with({ delivery });
  }

  pause(): Account {
    return this.with({ paused: true });
  }

  unpause(): Account {
    return this.with({ paused: false });
  }

  private with({
    name = this.name,
    plan = this.plan,
    limits = this.limits,
    suspended = this.suspended,
    delivery = this.delivery,
    paused = this.paused,
    externalId = this.externalId,
    agreed = this.agreed,
  }: Partial<Omit<Account, 'id' | 'createdAt'>>): Account {
    return new Account(this.id, name, plan, limits, this.createdAt, suspended, delivery, paused, externalId, agreed);
  }
}

function assertName(name: string): void {
  const error = nameError(name);
  if (error !== null) throw new ValidationError([{ pointer: '/name', detail: error }]);
}

/** Why a text is not a valid name, as a sentence; null when it is. */
export function nameError(name: string): string | null {
  if (isLongerThan(name, MAX_NAME_LENGTH) || name.trim() === '') {
    return `name must have 1 to ${MAX_NAME_LENGTH} characters and must not be blank.`;
  }
  return isStorable(name) ? null : 'name must not contain U+0000 or lone surrogates.';
}

/** Why a value is not a valid external id, as a sentence; null when it is. */
export function externalIdError(value: unknown): string | null {
  const isValid = typeof value === 'string' && EXTERNAL_ID.test(value);
  return isValid ? null : 'externalId must be 1 to 255 visible ASCII characters without spaces.';
}

export function accountSuspended(): DomainError {
  return new DomainError('account_suspended', 'The operator of this service has suspended your account. Contact them.');
}

export function externalIdTaken(): DomainError {
  return new DomainError('external_id_taken', 'Another account has this externalId. Find it with GET /admin/accounts.');
}

export function accountNotFound(): DomainError {
  return new DomainError('account_not_found', 'There is no account with this id.');
}
