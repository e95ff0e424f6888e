import { DomainError } from '#kernel/domain-error.js';
import type { Limits } from '#kernel/limits.js';

/** 1 to 40 of `a-z 0-9 -`. */
export const PLAN_NAME = /^[a-z0-9-]{1,40}$/;

/** Each message is stored with a delivery to every endpoint of its account. */
export const MAX_PLAN_ENDPOINTS = 100;

/** Limits that were agreed with one account; null where the plan's apply. */
export type AgreedLimits = { readonly [Name in keyof Limits]: number | null };

/** What an operator decides about a plan. */
export interface PlanTerms {
  /** Null: agreed with each account. */
  readonly limits: Limits | null;
  /** Bytes that an account may store; null: the settings decide. */
  readonly maxStoredBytes: number | null;
  /** Endpoints that an account may have; null: the default. */
  readonly maxEndpoints: number | null;
}

export interface Plan extends PlanTerms {
  readonly name: string;
  /** Of accounts with which nothing was agreed: the limits of the plan, or of a plan without any, those it had last. */
  readonly initialLimits: Limits;
  /** Grows with every change. */
  readonly version: number;
}

/** Of accounts whose plan has never had limits, until some are agreed. */
export const UNAGREED_LIMITS: Limits = { perMinute: 1_000, perDay: 100_000 };

/** The limits of an account with this plan. */
export function limitsOf({ limits, initialLimits }: Plan, agreed: AgreedLimits): Limits {
  const { perMinute, perDay } = limits ?? agreed;
  return { perMinute: perMinute ?? initialLimits.perMinute, perDay: perDay ?? initialLimits.perDay };
}

export function hasTerms(plan: Plan, { limits, ...others }: PlanTerms): boolean {
  return (
    plan.limits?.perMinute === limits?.perMinute &&
    plan.limits?.perDay === limits?.perDay &&
    (Object.keys(others) as (keyof typeof others)[]).every((name) => plan[name] === others[name])
  );
}

export function planNotFound(): DomainError {
  return new DomainError('plan_not_found', 'There is no plan with this name.');
}

/** The plan was deleted while an account was created. */
export function planMissing(): DomainError {
  return new DomainError(
    'unavailable',
    'The plan of the new account does not exist. Tell the operator of this service.',
  );
}

/** @param by completes "The plan cannot be deleted: …" */
export function planInUse(by: string): DomainError {
  return new DomainError('plan_in_use', `The plan cannot be deleted: ${by}`);
}

export function planChanged(): DomainError {
  const why =
    'Somebody else has changed the plan, or it exists already: it is not as If-Match or If-None-Match requires.';
  return new DomainError('plan_changed', `${why} Read it again.`);
}
