import { IsOptional, Validate, ValidatorConstraint, type ValidatorConstraintInterface } from 'class-validator';
import type { FieldError } from '#kernel/domain-error.js';
import { isTypeId } from '#kernel/typeid.js';
import { invalidTime, readTime, Time, TIME_SCHEMA } from '#platform/http/body/time.js';
import { Field } from '#platform/http/openapi/operation.js';
import type { MessageFilter, MessagePage } from '../../application/messages.js';
import { MESSAGE_STATUSES, TRANSITIONS } from '../../domain/message-status.js';
import { MAX_TYPE } from '../../domain/message-type.js';
import { readTypeFilter, TYPE_FILTER } from '../../domain/type-filter.js';
import { MESSAGE_STATUS } from './message-views.js';

const TYPE_SCHEMA = { type: 'string', minLength: 1, maxLength: MAX_TYPE, pattern: TYPE_FILTER.source };
const TYPE_DESCRIPTION = 'Only messages of this type. `order.*` means all types that begin with `order.`.';
const SINCE_DESCRIPTION = 'Only messages that were accepted at this time or later.';
const UNTIL_DESCRIPTION = 'Only messages that were accepted before this time.';
const invalidType = 'type must be a type, or the beginning of types like order.*.';

/** The filters of the list of messages, for the OpenAPI document. */
export const FILTERS = {
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
      'Returns only messages whose delivery to this endpoint has failed, whatever their own status: one that another endpoint ' +
      'has got can be `delivered`. A delivery has failed when its attempts were used up, or when the endpoint was disabled ' +
      'while it was waiting. Requires `status=failed`, which then means the delivery.',
  },
} as const;

type Query = Readonly<Record<string, unknown>>;

/** Reads the filters of a query, and adds an error for each that is invalid. */
export function readFilters(query: Query, errors: FieldError[]): Omit<MessagePage, 'limit' | 'before'> {
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
  const missedBy = read(
    'endpointId',
    typeof endpointId === 'string' && isTypeId('ep', endpointId) && status === TRANSITIONS.fail.to ? endpointId : null,
    'endpointId must be the id of an endpoint, together with status=failed.',
  );
  const type = read('type', readTypeFilter(query.type), invalidType);
  if (type !== null && missedBy !== null) {
    errors.push({ pointer: '', detail: 'type must not be given together with endpointId.' });
  }
  const since = read('since', readTime(query.since), invalidTime('since'));
  const until = read('until', readTime(query.until), invalidTime('until'));
  if (since !== null && until !== null && until <= since) {
    errors.push({ pointer: '', detail: 'until must be after since.' });
  }
  return { status, missedBy, type, since, until };
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

export function filterOf({ type, since, until }: CancelQueuedBody): MessageFilter {
  return { type: readTypeFilter(type), since: readTime(since), until: readTime(until) };
}
