import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PageView } from '#platform/http/body/paging.js';
import { header } from '#platform/http/openapi/operation.js';
import type { HistoryQuery, Place } from '../../application/usage-history.js';
import type { UsagePeriod } from '../../domain/usage-period.js';
import { prefersCsv, toCsv } from './csv.js';
import { cursorOf } from './history-query.js';

/** The description of a response that is also available as CSV, which has no place for `nextCursor`. */
export const CSV = {
  otherBodies: {
    'text/csv': {
      type: 'string',
      description: 'A line for each item, after a line with the names of the fields.',
      examples: ['start,accepted\r\n2026-11-21T00:00:00.000Z,960\r\n'],
    },
  },
  headers: {
    Link: header(
      'Of CSV: the next page, as in `</account/usage/history?cursor=…>; rel="next"`. Missing on the last page.',
      { type: 'string' },
      false,
    ),
  },
};

/**
 * Responds with a page, as JSON or CSV.
 * @param found one item more than a page has, if there are more
 */
export function sendHistory<Period extends UsagePeriod & Partial<Pick<Place, 'accountId'>>>(
  request: FastifyRequest,
  reply: FastifyReply,
  { limit }: HistoryQuery,
  columns: readonly (keyof Period & string)[],
  found: readonly Period[],
): PageView<Period> | string {
  const data = found.slice(0, limit - 1);
  const last = data.at(-1);
  const hasMore = found.length > data.length && last !== undefined;
  const nextCursor = hasMore ? cursorOf({ start: last.start, accountId: last.accountId ?? '' }) : null;
  reply.raw.appendHeader('Vary', 'Accept');
  if (!prefersCsv(request.headers.accept)) return { data, nextCursor };
  void reply.header('content-type', 'text/csv; charset=utf-8; header=present');
  if (nextCursor !== null) {
    const next = new URL(request.url, 'http://localhost');
    next.searchParams.set('cursor', nextCursor);
    void reply.header('link', `<${next.pathname}${next.search}>; rel="next"`);
  }
  return toCsv(columns, data);
}
