import type { Message, MessageFilter, MessageStatus, Page } from '#client/index.js';
import { formatMoment } from '../../text/format.js';
import { nameHidden } from '../../text/hidden-characters.js';
import { newest } from '../../loading/live.js';

/** Includes the messages that have arrived since the page was loaded. */
const MAX_ROWS = 200;
const STATUSES: readonly MessageStatus[] = ['queued', 'processing', 'delivered', 'failed', 'cancelled', 'skipped'];
/** Those that a delivery to an endpoint can have, too. */
const STATUSES_AT_ENDPOINT: readonly MessageStatus[] = ['delivered', 'failed'];

/** Which messages are listed: as the address has it, and as the API takes it. */
export type Filter = { readonly [Name in Fields]?: Exclude<MessageFilter[Name], Date> };
type Fields = 'status' | 'type' | 'since' | 'until' | 'endpointId';

export function filterOf(query: URLSearchParams): Filter {
  const [status, type, since, until, endpointId] = ['status', 'type', 'since', 'until', 'endpointId'].map(
    (name) => query.get(name) ?? undefined,
  );
  // What is no status, the API says: to leave it out would show, and change, other messages than were meant.
  return { status: status as MessageStatus | undefined, type, since, until, endpointId };
}

/** By which statuses a list can be filtered further. */
export const statusesFor = ({ endpointId }: Filter): readonly MessageStatus[] =>
  endpointId === undefined ? STATUSES : STATUSES_AT_ENDPOINT;

export const isFiltering = (filter: Filter): boolean => Object.values(filter).some((value) => value !== undefined);

/**
 * Like "failed messages of type order.paid since 14:00".
 * @param endpoint what the endpoint is called, once that is known
 */
export function describe({ status, type, since, until, endpointId }: Filter, endpoint = 'an endpoint'): string {
  return [
    status === undefined ? 'messages' : `${status} messages`,
    type !== undefined && `of type ${nameHidden(type)}`,
    endpointId !== undefined && `of ${endpoint}`,
    since !== undefined && `since ${momentOf(since)}`,
    until !== undefined && `before ${momentOf(until)}`,
  ]
    .filter(Boolean)
    .join(' ');
}

/** Also of what somebody wrote into the address. */
const momentOf = (time: string) => (Number.isNaN(Date.parse(time)) ? time : formatMoment(time));

/** A page after an event: new messages are added, and messages that no longer match the filter are removed. */
export function merged(page: Page<Message>, event: Message, filter: Filter, isFirstPage: boolean): Page<Message> {
  const known = page.data.find(({ id }) => id === event.id);
  const message = known === undefined ? event : newest(known, event);
  const others = page.data.filter((one) => one !== known);
  // Ids are in the order of their creation.
  const isCovered = page.nextCursor === null || message.id > (page.data.at(-1)?.id ?? '');
  const isShown = known === undefined ? isFirstPage && isCovered && matches(filter, event) : stays(filter, message);
  const rows = isShown ? [message, ...others] : others;
  return { ...page, data: rows.toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, MAX_ROWS) };
}

/** Which endpoints get a message, its events do not say. */
const matches = (filter: Filter, message: Message) => filter.endpointId === undefined && fits(filter, message);
const stays = (filter: Filter, message: Message) => filter.endpointId !== undefined || fits(filter, message);

function fits({ status, type, since, until }: Filter, message: Message): boolean {
  const at = Date.parse(message.createdAt);
  return (
    (status === undefined || message.status === status) &&
    isOfType(type, message.type) &&
    (since === undefined || at >= Date.parse(since)) &&
    (until === undefined || at < Date.parse(until))
  );
}

function isOfType(filter: string | undefined, type: string | undefined): boolean {
  if (filter?.endsWith('*') === true) return type?.startsWith(filter.slice(0, -1)) === true;
  return filter === undefined || type === filter;
}
