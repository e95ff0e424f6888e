import { IsOptional, Validate, ValidatorConstraint, type ValidatorConstraintInterface } from 'class-validator';
import type { FieldError } from '#kernel/domain-error.js';
import { isTypeId } from '#kernel/typeid.js';
import { invalidTime, readTime, Time, TIME_SCHEMA } from '#platform/http/body/time.js';
import { readWholeNumber } from '#platform/http/body/paging.js';
import { Field, KnownFieldsOnly } from '#platform/http/openapi/operation.js';
import type { MessageFilter, MessagePage } from '../../application/messages.js';
import { MESSAGE_STATUSES, TRANSITIONS, type MessageStatus } from '../../domain/message-status.js';
import { MAX_TYPE } from '../../domain/message-type.js';
import { readTypeFilter, TYPE_FILTER } from '../../domain/type-filter.js';
import { MESSAGE_STATUS } from './message-views.js';

const TYPE_SCHEMA = { type: 'string', minLength: 1, maxLength: MAX_TYPE, pattern: TYPE_FILTER.source };
const TYPE_DESCRIPTION = 'Only messages of this type. `order.*` means all types that begin with `order.`.';
const SINCE_DESCRIPTION = 'Only messages that were accepted at this time or later.';
const UNTIL_DESCRIPTION = 'Only messages that were accepted before this time.';
const invalidType = 'type must be a type, or the beginning of types like order.*.';

const MAX_PREVIEW = 1_000;

/** The query of the list of messages, for the OpenAPI document. */
export const LIST_QUERY = {
  status: {
    $ref: MESSAGE_STATUS,
    description: 'Returns only messages with this status, unless `endpointId` is given.',
  },
  type: { ...TYPE_SCHEMA, description: `${TYPE_DESCRIPTION} Not together with \`endpointId\`.` },
  since: { ...TIME_SCHEMA, description: SINCE_DESCRIPTION },
  until: { ...TIME_SCHEMA, description: UNTIL_DESCRIPTION },
  endpointId: {
    type: 'string',
    pattern: '^ep_[0-7][0-9a-hjkmnp-tv-z]{25}$',
    description:
      'Returns only messages with a delivery to this endpoint. A status that is given with it, `delivered` or `failed`, ' +
      'means this delivery: a message that another endpoint has got can be `delivered` although this one has failed. A ' +
      'delivery has failed when its attempts were used up, or when the endpoint was disabled or its types were changed while it was ' +
      'waiting.',
  },
  preview: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_PREVIEW,
    description: 'Cuts texts to so many characters. A message whose text was cut has `truncated: true`.',
  },
} as const;

/** The statuses of messages that a delivery to an endpoint can have as well. */
const STATUSES_AT_ENDPOINT: readonly MessageStatus[] = [TRANSITIONS.deliver.to, TRANSITIONS.fail.to];

type Query = Readonly<Record<string, unknown>>;

/** Reads the query of a list, and adds an error for each that is invalid. */
export function readListQuery(query: Query, errors: FieldError[]): Omit<MessagePage, 'limit' | 'before'> {
  const read = <T>(name: string, value: T | null, detail: string): T | null => {
    if (query[name] !== undefined && value === null) errors.push({ pointer: '', detail });
    return value;
  };
  const status = read(
    'status',
    MESSAGE_STATUSES.find((candidate) => candidate === query.status) ?? null,
    `status must be one of ${MESSAGE_STATUSES.join(', ')}.`,
  );
  const { endpointId } = query;
  const deliveredTo = read(
    'endpointId',
    typeof endpointId === 'string' &&
      isTypeId('ep', endpointId) &&
      (status === null || STATUSES_AT_ENDPOINT.includes(status))
      ? endpointId
      : null,
    'endpointId must be the id of an endpoint; with it, status can only be delivered or failed.',
  );
  const type = read('type', readTypeFilter(query.type), invalidType);
  if (type !== null && deliveredTo !== null) {
    errors.push({ pointer: '', detail: 'type must not be given together with endpointId.' });
  }
  const since = read('since', readTime(query.since), invalidTime('since'));
  const until = read('until', readTime(query.until), invalidTime('until'));
  if (since !== null && until !== null && until <= since) {
    errors.push({ pointer: '', detail: 'until must be after since.' });
  }
  const preview = read(
    'preview',
    readWholeNumber(query.preview, MAX_PREVIEW),
    `preview must be a whole number from 1 to ${MAX_PREVIEW}.`,
  );
  return { status, endpointId: deliveredTo, type, since, until, preview };
}

@ValidatorConstraint()
class Type implements ValidatorConstraintInterface {
  static readonly schema = TYPE_SCHEMA;

  validate(value: unknown): boolean {
    return readTypeFilter(value) !== null;
  }

  defaultMessage(): string {
    return invalidType;
  }
}

@KnownFieldsOnly()
export class CancelQueuedBody {
  @Field({ description: TYPE_DESCRIPTION, examples: ['order.*'] })
  @IsOptional()
  @Validate(Type)
  type?: string | null;

  @Field({ description: SINCE_DESCRIPTION, examples: ['2026-11-21T09:00:00Z'] })
  @IsOptional()
  @Validate(Time)
  since?: string | null;

  @Field({ description: UNTIL_DESCRIPTION, examples: ['2026-11-21T10:00:00Z'] })
  @IsOptional()
  @Validate(Time)
  until?: string | null;
}

@KnownFieldsOnly()
export class RetryFailedBody {
  @Field({ description: TYPE_DESCRIPTION, examples: ['order.*'] })
  @IsOptional()
  @Validate(Type)
  type?: string | null;

  @Field({ description: 'The start of the period, inclusive.', examples: ['2026-11-21T09:00:00Z'] })
  @Validate(Time)
  since!: string;

  @Field({ description: 'The end of the period, exclusive.', examples: ['2026-11-21T10:00:00Z'] })
  @Validate(Time)
  until!: string;
}

export function filterOf({ type, since, until }: CancelQueuedBody | RetryFailedBody): MessageFilter {
  return { type: readTypeFilter(type), since: readTime(since), until: readTime(until) };
}
