import { unexpected } from './errors.js';
import type { Page } from './types.js';

/** A list, newest first: of `page()`s, or of items that are fetched page by page: `for await (const item of list)`. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #load: (cursor?: string) => Promise<Page<Item>>;

  constructor(load: (cursor?: string) => Promise<Page<Item>>) {
    this.#load = load;
  }

  /** The first page, or the one at the `cursor` of the parameters. */
  page(): Promise<Page<Item>> {
    return this.#load();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let cursor: string | undefined;
    for (;;) {
      const { data, nextCursor } = await this.#load(cursor);
      yield* data;
      // Without one, the next page would be the first again.
      if (!nextCursor) return;
      // A cache may ignore the query.
      if (typeof nextCursor !== 'string' || nextCursor === cursor)
        throw unexpected('its nextCursor leads to no other page.', 200);
      cursor = nextCursor;
    }
  }
}
