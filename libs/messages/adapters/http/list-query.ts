import { ValidationError, type FieldFault } from '#kernel/domain-error.js';
import { isTypeId } from '#kernel/typeid.js';
import type { Page } from '../../application/messages.js';
import { MESSAGE_STATUSES } from '../../domain/message-status.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

/** The query of `GET /messages`: `limit`, `cursor` and `status`. Other parameters are ignored. */
export function readListQuery(query: Readonly<Record<string, unknown>>): Page {
  const { limit = String(DEFAULT_LIMIT), cursor, status } = query;
  const faults: FieldFault[] = [];
  const fault = (name: string, detail: string) => {
    faults.push({ pointer: '', detail: `${name} ${detail}` });
    return null;
  };
  const page = {
    limit:
      typeof limit === 'string' && /^\d{1,3}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_LIMIT
        ? Number(limit)
        : fault('limit', `must be a whole number from 1 to ${MAX_LIMIT}.`),
    before:
      cursor === undefined ? null : (decodeCursor(cursor) ?? fault('cursor', 'must be the nextCursor of a list.')),
    status:
      status === undefined
        ? null
        : (MESSAGE_STATUSES.find((known) => known === status) ??
          fault('status', `must be one of ${MESSAGE_STATUSES.join(', ')}.`)),
  };
  if (faults.length > 0) throw new ValidationError(faults);
  return { ...page, limit: page.limit ?? DEFAULT_LIMIT };
}

/** Opaque on purpose, so that what a cursor holds can change. */
export function encodeCursor(id: string): string {
  return Buffer.from(id).toString('base64url');
}

function decodeCursor(cursor: unknown): string | null {
  if (typeof cursor !== 'string') return null;
  const id = Buffer.from(cursor, 'base64url').toString();
  return isTypeId('msg', id) ? id : null;
}
