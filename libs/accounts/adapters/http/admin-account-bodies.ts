import {
  IsBoolean,
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
import { limitsError } from '../../domain/request-limits.js';
import { LIMITS, NAME_RULES, PLAN } from './views.js';

const EXTERNAL_ID_FIELD = {
  description:
    'What your own systems call the account: 1 to 255 visible ASCII characters, different from those of all others.',
  examples: ['customer-4711'],
  pattern: EXTERNAL_ID.source,
};

const AGREED_LIMITS = {
  $ref: LIMITS,
  description: 'Individually agreed limits. Only with a plan that has none of its own, such as `enterprise`.',
  examples: [{ perMinute: 5_000, perDay: 1_000_000 }],
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

  @Field({ ...PLAN, description: 'The new plan. Unchanged if omitted.', examples: ['enterprise'] })
  @IsOptional()
  @IsString({ message: 'plan must be the name of a plan.' })
  plan?: string | null;

  @Field(AGREED_LIMITS)
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
    description: 'Whether messages are accepted, but not delivered. Unchanged if omitted.',
    examples: [false],
  })
  @IsOptional()
  @IsBoolean({ message: 'paused must be true or false.' })
  paused?: boolean | null;

  @Field({
    ...EXTERNAL_ID_FIELD,
    description: `${EXTERNAL_ID_FIELD.description} Null removes it. Unchanged if omitted.`,
  })
  @IsOptional()
  @Validate(RemovableExternalId)
  externalId?: string | null;
}

/** What a body changes. */
export function changesOf({ name, plan, limits, suspended, paused, externalId }: ChangeAccountBody): AccountChanges {
  return {
    name: name ?? undefined,
    plan: plan ?? undefined,
    limits: limitsOf(limits),
    suspended: suspended ?? undefined,
    paused: paused ?? undefined,
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

  @Field({ ...PLAN, description: 'That of sign-ups if omitted.', examples: ['pro'] })
  @IsOptional()
  @IsString({ message: 'plan must be the name of a plan.' })
  plan?: string | null;

  @Field(AGREED_LIMITS)
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
