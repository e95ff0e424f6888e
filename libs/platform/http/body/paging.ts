import { ValidationError, type FieldError } from '#kernel/domain-error.js';
import type { Page } from '#kernel/page.js';
import { isTypeId } from '#kernel/typeid.js';
import { nullable, viewModel, type Model } from '../openapi/schema.js';

export interface PageView<View> {
  readonly data: readonly View[];
  readonly nextCursor: string | null;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

/** The query of every list, for the OpenAPI document. */
export const PAGING = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: 'The maximum number of items to return.',
  },
  cursor: {
    type: 'string',
    minLength: 1,
    description: 'The `nextCursor` of the previous page. Omit it for the first page.',
  },
} as const;

/** The model of a page of these items. */
export function pageModel(item: Model, description = 'A page of a list, newest first.'): Model {
  return viewModel<PageView<unknown>>(`${item.name}Page`, description, {
    data: { type: 'array', maxItems: MAX_LIMIT, items: item },
    nextCursor: nullable({
      type: 'string',
      description: 'Send it as `cursor` to get the next page. Null on the last page.',
      examples: ['bXNnXzAxaDQ1NXZiNHBleDV2c2tuazA4NHNuMDJx'],
    }),
  });
}

type Query = Readonly<Record<string, unknown>>;

/**
 * `limit` and `cursor` of a list; other parameters are ignored.
 * @param ids the prefix of the ids that are listed, or whether a text is one of them
 * @param more reads further parameters and adds their errors
 * @throws ValidationError with an error for each invalid parameter
 */
export function readPage<More extends object>(
  query: Query,
  ids: string | ((id: string) => boolean),
  more: (query: Query, errors: FieldError[]) => More = () => ({}) as More,
): Page & More {
  const errors: FieldError[] = [];
  const { limit = String(DEFAULT_LIMIT), cursor } = query;
  const before = cursor === undefined ? null : decodeId(ids, cursor);
  const count = readWholeNumber(limit, MAX_LIMIT);
  if (count === null) {
    errors.push({ pointer: '', detail: `limit must be a whole number from 1 to ${MAX_LIMIT}.` });
  }
  if (cursor !== undefined && before === null) {
    errors.push({ pointer: '', detail: 'cursor must be the nextCursor of a page of this list.' });
  }
  const further = more(query, errors);
  if (count === null || errors.length > 0) throw new ValidationError(errors);
  return { ...further, limit: count, before };
}

/** A number in a query. @returns null unless it is one from 1 to the maximum, written with no more digits than that */
export function readWholeNumber(value: unknown, maximum: number): number | null {
  if (typeof value !== 'string' || !/^\d+$/.test(value) || value.length > String(maximum).length) return null;
  const number = Number(value);
  return number >= 1 && number <= maximum ? number : null;
}

/** A page of a list. @param more whether there is a next page */
export function pageView<Item, View>(
  items: readonly Item[],
  more: boolean,
  idOf: (item: Item) => string,
  view: (item: Item) => View,
): PageView<View> {
  const last = more ? items.at(-1) : undefined;
  return { data: items.map(view), nextCursor: last === undefined ? null : encodeCursor(idOf(last)) };
}

/** A page of what `find` returns. It is asked for one item more: if there is one, there is a next page. */
export async function pageOf<Query extends Page, Item, View>(
  page: Query,
  find: (page: Query) => Promise<readonly Item[]>,
  idOf: (item: Item) => string,
  view: (item: Item) => View,
): Promise<PageView<View>> {
  const { limit } = page;
  const found = await find({ ...page, limit: limit + 1 });
  return pageView(found.slice(0, limit), found.length > limit, idOf, view);
}

/** Opaque to clients, so that its content can change. */
export function encodeCursor(content: string): string {
  return Buffer.from(content).toString('base64url');
}

/** The content of a cursor. @returns null unless it is, character by character, one that `encodeCursor` returns */
export function decodeCursor(cursor: unknown): string | null {
  if (typeof cursor !== 'string') return null;
  const content = Buffer.from(cursor, 'base64url').toString();
  return encodeCursor(content) === cursor ? content : null;
}

function decodeId(ids: string | ((id: string) => boolean), cursor: unknown): string | null {
  const id = decodeCursor(cursor);
  return id !== null && (typeof ids === 'string' ? isTypeId(ids, id) : ids(id)) ? id : null;
}
