/** The pages of a list, up to a number of items. */
export async function* firstOf<Item>(items: AsyncIterable<Item>, limit: number): AsyncGenerator<readonly Item[]> {
  let page: Item[] = [];
  let count = 0;
  for await (const item of items) {
    page.push(item);
    count++;
    if (page.length === PAGE || count === limit) {
      yield page;
      page = [];
    }
    if (count === limit) return;
  }
  if (page.length > 0) yield page;
}

const PAGE = 100;
