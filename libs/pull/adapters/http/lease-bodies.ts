import { applyDecorators } from '@nestjs/common';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
  Validate,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { isLongerThan, isStorable } from '#kernel/text.js';
import { bodyModel } from '#platform/http/openapi/body-model.js';
import { Field } from '#platform/http/openapi/operation.js';
import { type Lease, MAX_REASON_LENGTH, type Message } from '#messages/index.js';
import {
  ACKNOWLEDGED_LEASES,
  DELAY_SECONDS,
  LEASE_SECONDS,
  LEASED_MESSAGES,
  WAIT_SECONDS,
} from '../../domain/lease-terms.js';
import { readItems } from '#platform/http/body/read-items.js';

function WholeNumber({ min, max }: { readonly min: number; readonly max: number }): PropertyDecorator {
  const rule = { message: `$property must be a whole number from ${min} to ${max}.` };
  return applyDecorators(IsInt(rule), Min(min, rule), Max(max, rule));
}

export class LeaseBody {
  @Field({ description: `How many messages to lease at most. ${LEASED_MESSAGES.initial} if omitted.`, examples: [10] })
  @IsOptional()
  @WholeNumber(LEASED_MESSAGES)
  max?: number | null;

  @Field({
    description: `How long the lease lasts, unless it is extended. ${LEASE_SECONDS.initial} if omitted.`,
    examples: [30],
  })
  @IsOptional()
  @WholeNumber(LEASE_SECONDS)
  seconds?: number | null;

  @Field({
    description: `How many seconds to wait while no message is available. ${WAIT_SECONDS.initial} if omitted.`,
    examples: [20],
  })
  @IsOptional()
  @WholeNumber(WAIT_SECONDS)
  wait?: number | null;
}

export const LEASE_TOKEN = {
  description: 'Identifies the lease of the message.',
  examples: ['1.8f14e45f-ceea-467f-a0e6-7d0d9b1c2a3b'],
};

export class AcknowledgeBody {
  @Field(LEASE_TOKEN)
  @IsString({ message: 'leaseToken must be a string.' })
  leaseToken!: string;
}

@ValidatorConstraint()
class Reason implements ValidatorConstraintInterface {
  static readonly schema = { type: 'string', minLength: 1, maxLength: MAX_REASON_LENGTH, pattern: '^[^\\u0000]*$' };

  validate(value: unknown): boolean {
    if (typeof value !== 'string' || value === '' || isLongerThan(value, MAX_REASON_LENGTH)) return false;
    return isStorable(value);
  }

  defaultMessage(): string {
    return `reason must be 1 to ${MAX_REASON_LENGTH} characters, without U+0000 or lone surrogates.`;
  }
}

export class RejectBody extends AcknowledgeBody {
  @Field({
    description: 'When the message is available again. As the settings of the service say if omitted.',
    examples: [60],
  })
  @IsOptional()
  @WholeNumber(DELAY_SECONDS)
  delaySeconds?: number | null;

  @Field({ description: 'Why the attempt failed: the `failureReason` of the message.', examples: ['no such address'] })
  @IsOptional()
  @Validate(Reason)
  reason?: string | null;
}

export class ExtendBody extends AcknowledgeBody {
  @Field({ description: 'How long the lease lasts from now on.', examples: [30] })
  @WholeNumber(LEASE_SECONDS)
  seconds!: number;
}

export class AcknowledgedLease {
  @Field({ description: 'The id of the message.', examples: ['msg_01h455vb4pex5vsknk084sn02q'] })
  @IsString()
  id!: string;

  @Field(LEASE_TOKEN)
  @IsString()
  leaseToken!: string;
}

export class AcknowledgeAllBody {
  @Field({
    description: 'The leases of the messages to acknowledge.',
    examples: [[{ id: 'msg_01h455vb4pex5vsknk084sn02q', leaseToken: LEASE_TOKEN.examples[0] }]],
    items: bodyModel(AcknowledgedLease),
  })
  @ArrayMaxSize(ACKNOWLEDGED_LEASES.max, { message: `leases must have at most ${ACKNOWLEDGED_LEASES.max} items.` })
  @ArrayMinSize(ACKNOWLEDGED_LEASES.min, { message: 'leases must not be empty.' })
  @IsArray({ message: 'leases must be an array.' })
  leases!: unknown[];
}

const NIL = '00000000-0000-0000-0000-000000000000';
const TOKEN = /^([1-9]\d{0,8})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** The `leaseToken` of a leased message: the number of its attempt and the token of its claim. */
export function leaseTokenOf({ state: { attempts, claim } }: Message): string {
  return `${attempts}.${claim?.token ?? ''}`;
}

/**
 * Reads a `leaseToken`. A malformed token becomes the token of a lease that does not exist, so that the response is
 * `lease_lost`.
 */
export function readLease(id: string, leaseToken: string): Lease {
  const [, attempt = '0', token = NIL] = TOKEN.exec(leaseToken) ?? [];
  return { id, token, attempt: Number(attempt) };
}

/** @throws ValidationError with the first 100 errors */
export function readLeases({ leases }: AcknowledgeAllBody): Lease[] {
  const read = readItems('leases', 'A lease', leases, ({ id, leaseToken }, note) => {
    note('id', typeof id === 'string' ? null : 'id must be a string.');
    note('leaseToken', typeof leaseToken === 'string' ? null : 'leaseToken must be a string.');
    return { id, leaseToken } as AcknowledgedLease;
  });
  return read.map(({ id, leaseToken }) => readLease(id, leaseToken));
}
