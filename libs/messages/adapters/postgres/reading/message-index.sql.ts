import type { TypeFilter } from '../../../domain/type-filter.js';

/** An index with the messages of an account by their status, in each status in the order of their ids. */
export interface MessageIndex {
  readonly name: string;
  /** The condition for the messages of account $1 with this status; in an index by type, those of $5. */
  readonly having: (status: string) => string;
  /** What the index has of an id. */
  readonly key: (id: string) => string;
  /** The columns that sort them. */
  readonly order: readonly string[];
}

/**
 * `messages_by_status`. Only this index has the order, since the account is a range; and only it has all statuses,
 * since they are parameters. A planner that expects most messages to match would walk the primary key, one that expects
 * few would read all of them and sort.
 */
const BY_STATUS: MessageIndex = {
  name: 'all types',
  having: (status) => `account_id >= $1 AND account_id <= $1 AND status = ${status}`,
  key: (id) => id,
  order: ['account_id', 'id'],
};

/** `messages_by_type`, or one of the indexes by words. Only these have a part of the id, which is what sorts. */
const byType = (name: string, ofType: string): MessageIndex => ({
  name,
  having: (status) => `account_id = $1 AND status = ${status} AND ${ofType}`,
  key: (id) => `substr(${id}, 5)`,
  order: ['key'],
});

/** As the indexes by words have it, with the point after them. */
export const firstWords = (type: string, words: number) => String.raw`substring(${type} FROM '^(?:[^.]+\.){${words}}')`;

/** There is an index for each number of words up to this. */
const INDEXED_WORDS = 4;

/** Of messages whose types have the same first words, it reads also those that differ in the others. */
const BY_MORE_WORDS = byType(
  'types by more words',
  `starts_with(type, $5) AND ${firstWords('type', INDEXED_WORDS)} = ${firstWords('$5::text', INDEXED_WORDS)}`,
);

/** Which index has the messages, and its parameter $5, if there is one. */
export function indexOf(filter: TypeFilter | null): { index: MessageIndex; values: readonly string[] } {
  if (filter === null) return { index: BY_STATUS, values: [] };
  if ('type' in filter) return { index: byType('a type', 'type = $5'), values: [filter.type] };
  const { prefix, words } = filter;
  const index =
    words > INDEXED_WORDS ? BY_MORE_WORDS : byType(`types by ${words} words`, `${firstWords('type', words)} = $5`);
  return { index, values: [prefix] };
}

/**
 * The messages of an index that have a status, with ids from $4 on and before $2, in their order.
 * @param columns of messages
 */
export const messagesOf = (
  { having, key, order }: MessageIndex,
  columns: string,
  status: string,
  direction: Direction,
): string => `
  SELECT ${columns}, ${key('id')} AS key FROM sluice.messages
  WHERE ${having(status)} AND ${key('id')} < ${key('$2')} AND ${key('id')} >= ${key('$4')}
  ORDER BY ${ordered(order, direction)}`;

type Direction = 'ASC' | 'DESC';

export const ordered = (columns: readonly string[], direction: Direction): string =>
  columns.map((column) => `${column} ${direction}`).join(', ');
