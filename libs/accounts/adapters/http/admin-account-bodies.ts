import {
  IsBoolean,
  IsIn,
  IsOptional,
  IsString,
  Validate,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import type { Limits } from '#kernel/limits.js';
import { Field } from '#platform/http/openapi/operation.js';
import type { AccountChanges } from '../../application/change-account.js';
import type { NewAccount } from '../../application/sign-up.js';
import { EXTERNAL_ID, externalIdError, MAX_NAME_LENGTH } from '../../domain/account.js';
import { PLANS, type Plan } from '../../domain/plan.js';
import { limitsError } from '../../domain/request-limits.js';
import { LIMITS, NAME_RULES, PLAN } from './views.js';

const EXTERNAL_ID_FIELD = {
  description:
    'What your own systems call the account: 1 to 255 visible ASCII characters, different from those of all others.',
  examples: ['customer-4711'],
  pattern: EXTERNAL_ID.source,
};

/** The domain's rule for limits, as a rule of a body. */
@ValidatorConstraint()
class ValidLimits implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return limitsError(value) === null;
  }

  defaultMessage(): string {
    return limitsError(undefined) ?? '';
  }
}

/** The domain's rule for external ids, of one that can be removed. */
@ValidatorConstraint()
class RemovableExternalId implements ValidatorConstraintInterface {
  static readonly schema = { type: ['string', 'null'], pattern: EXTERNAL_ID.source };

  validate(value: unknown): boolean {
    return externalIdError(value) === null;
  }

  defaultMessage(): string {
    return externalIdError(undefined) ?? '';
  }
}

export class ChangeAccountBody {
  @Field({ description: 'The new name. Unchanged if omitted.', examples: ['Acme Ltd'], ...NAME_RULES })
  @IsOptional()
  @IsString({ message: 'name must be a string.' })
  name?: string | null;

  @Field({ $ref: PLAN, description: 'The new plan. Unchanged if omitted.', examples: ['enterprise'] })
  @IsOptional()
  @IsIn(PLANS, { message: `plan must be one of ${PLANS.join(', ')}.` })
  plan?: Plan | null;

  @Field({
    $ref: LIMITS,
    description: 'Individually agreed limits. Only with the plan `enterprise`.',
    examples: [{ perMinute: 5_000, perDay: 1_000_000 }],
  })
  @IsOptional()
  @Validate(ValidLimits)
  limits?: Limits | null;

  @Field({
    description: 'Whether the keys of the account are refused and its queued messages wait. Unchanged if omitted.',
    examples: [false],
  })
  @IsOptional()
  @IsBoolean({ message: 'suspended must be true or false.' })
  suspended?: boolean | null;

  @Field({
    ...EXTERNAL_ID_FIELD,
    description: `${EXTERNAL_ID_FIELD.description} Null removes it. Unchanged if omitted.`,
  })
  @IsOptional()
  @Validate(RemovableExternalId)
  externalId?: string | null;
}

/** What a body changes. */
export function changesOf({ name, plan, limits, suspended, externalId }: ChangeAccountBody): AccountChanges {
  return {
    name: name ?? undefined,
    plan: plan ?? undefined,
    limits: limitsOf(limits),
    suspended: suspended ?? undefined,
    externalId,
  };
}

export class CreateAccountBody {
  @Field({
    description: `1 to ${MAX_NAME_LENGTH} characters, not only whitespace.`,
    examples: ['Acme'],
    ...NAME_RULES,
  })
  @IsString({ message: 'name must be a string.' })
  name!: string;

  @Field({ $ref: PLAN, description: 'The plan. `free` if omitted.', examples: ['pro'] })
  @IsOptional()
  @IsIn(PLANS, { message: `plan must be one of ${PLANS.join(', ')}.` })
  plan?: Plan | null;

  @Field({
    $ref: LIMITS,
    description: 'Individually agreed limits. Only with the plan `enterprise`.',
    examples: [{ perMinute: 5_000, perDay: 1_000_000 }],
  })
  @IsOptional()
  @Validate(ValidLimits)
  limits?: Limits | null;

  @Field(EXTERNAL_ID_FIELD)
  @IsOptional()
  @IsString({ message: 'externalId must be a string.' })
  externalId?: string | null;
}

/** What a body chooses for a new account. */
export function choicesOf({ plan, limits, externalId }: CreateAccountBody): NewAccount {
  return { plan: plan ?? undefined, limits: limitsOf(limits), externalId: externalId ?? undefined };
}

/** Without fields that are ignored. */
function limitsOf(limits: Limits | null | undefined): Limits | undefined {
  return limits ? { perMinute: limits.perMinute, perDay: limits.perDay } : undefined;
}
