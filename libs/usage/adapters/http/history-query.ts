import type { FieldError } from '#kernel/domain-error.js';
import { isTypeId } from '#kernel/typeid.js';
import { decodeCursor, encodeCursor, PAGING, readPage } from '#platform/http/body/paging.js';
import { invalidTime, readTime, TIME_SCHEMA } from '#platform/http/body/time.js';
import { enumModel } from '#platform/http/openapi/schema.js';
import type { HistoryQuery, Place } from '../../application/usage-history.js';
import { PERIOD_LENGTHS, PERIOD_MS, type PeriodLength } from '../../domain/usage-period.js';

const EVER = [new Date(0), new Date('9999-01-01T00:00:00Z')] as const;
const DEFAULT_LENGTH = 'day' satisfies PeriodLength;

/** The query of a history, for the OpenAPI document. */
export const HISTORY_QUERY = {
  by: {
    $ref: enumModel('UsagePeriodLength', 'The length of the periods of a usage history.', PERIOD_LENGTHS),
    default: DEFAULT_LENGTH,
    description: 'The length of the periods. Hours and days begin and end in UTC.',
  },
  since: { ...TIME_SCHEMA, description: 'Returns only periods that start at this time or later.' },
  until: { ...TIME_SCHEMA, description: 'Returns only periods that start before this time.' },
  ...PAGING,
} as const;

type Query = Readonly<Record<string, unknown>>;

/**
 * @param ofAccounts whether a period is one of several accounts
 * @throws ValidationError with an error for each invalid parameter
 */
export function readHistoryQuery({ limit, ...query }: Query, ofAccounts: boolean): HistoryQuery {
  // Its cursor is the id of an item, which periods have not.
  const page = readPage({ ...(limit !== undefined && { limit }) }, '', (_, errors) => {
    const by = PERIOD_LENGTHS.find((length) => length === (query.by ?? DEFAULT_LENGTH));
    if (by === undefined) errors.push({ pointer: '', detail: `by must be one of ${PERIOD_LENGTHS.join(', ')}.` });
    const since = readOptionalTime('since', query.since ?? EVER[0], errors);
    const until = readOptionalTime('until', query.until ?? EVER[1], errors);
    if (query.since !== undefined && query.until !== undefined && since >= until) {
      errors.push({ pointer: '', detail: 'until must be later than since.' });
    }
    const after = query.cursor === undefined ? null : placeOf(query.cursor, by ?? DEFAULT_LENGTH, ofAccounts);
    if (query.cursor !== undefined && after === null) {
      errors.push({ pointer: '', detail: 'cursor must be the nextCursor of a page of this list.' });
    }
    return { by: by ?? DEFAULT_LENGTH, since, until, after };
  });
  return { ...page, limit: page.limit + 1 };
}

/** An invalid time is an error by itself, whatever it is compared with. */
function readOptionalTime(name: string, value: unknown, errors: FieldError[]): Date {
  const time = value instanceof Date ? value : readTime(value);
  if (time === null) errors.push({ pointer: '', detail: invalidTime(name) });
  return time ?? new Date(NaN);
}

export function cursorOf({ start, accountId }: Place): string {
  return encodeCursor(`${start.getTime()} ${accountId}`);
}

function placeOf(cursor: unknown, by: PeriodLength, ofAccounts: boolean): Place | null {
  const [, time = '', accountId = ''] = /^(\d{1,15}) (\w*)$/.exec(decodeCursor(cursor) ?? '') ?? [];
  const start = new Date(time === '' ? NaN : Number(time));
  const isOfList = ofAccounts ? isTypeId('acct', accountId) : accountId === '';
  return start < EVER[1] && start.getTime() % PERIOD_MS[by] === 0 && isOfList ? { start, accountId } : null;
}
