import { pageOf, readPage } from './paging.js';

const ID = /^msg_0{22}(\d{4})$/;
const idOf = (number: number) => `msg_${String(number).padStart(26, '0')}`;
const cursorOf = (id: string) => Buffer.from(id).toString('base64url');

/** A list of so many items, newest first, as a store reads it. */
function listOf(length: number) {
  return ({ limit, before }: { limit: number; before: string | null }) => {
    const ids = Array.from({ length }, (_, index) => idOf(length - index));
    return Promise.resolve(ids.filter((id) => before === null || id < before).slice(0, limit));
  };
}

/** All pages of a list, by the cursor of each for the next. */
async function pagesOf(length: number, limit: number): Promise<number[][]> {
  const pages: number[][] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { limit: String(limit), ...(cursor !== undefined && { cursor }) };
    const page = await pageOf(
      readPage(query, 'msg'),
      listOf(length),
      (id) => id,
      (id) => Number(ID.exec(id)?.[1]),
    );
    pages.push([...page.data]);
    cursor = page.nextCursor;
  }
  return pages;
}

describe('A list', () => {
  it.each([
    [0, 2, [[]]],
    [1, 2, [[1]]],
    [2, 2, [[2, 1]]],
    [3, 2, [[3, 2], [1]]],
    [
      4,
      2,
      [
        [4, 3],
        [2, 1],
      ],
    ],
    [3, 1, [[3], [2], [1]]],
  ])('of %i items in pages of %i has each item once, and no empty page at its end', async (length, limit, pages) => {
    expect(await pagesOf(length, limit)).toEqual(pages);
  });

  it.each([
    [{}, { limit: 50, before: null }],
    [{ limit: '1' }, { limit: 1, before: null }],
    [
      { limit: '100', cursor: cursorOf(idOf(7)) },
      { limit: 100, before: idOf(7) },
    ],
    [{ other: 'x' }, { limit: 50, before: null }],
  ])('is asked for by %j', (query, page) => {
    expect(readPage(query, 'msg')).toEqual(page);
  });

  it.each([
    ...['0', '101', '-1', '1.5', '1e1', '', ' 1', 'x', '٣'].map((limit) => ({ limit })),
    { limit: ['1', '2'] },
    ...['', 'x', idOf(7), cursorOf('msg_'), cursorOf(idOf(7).replace('msg', 'acct'))].map((cursor) => ({ cursor })),
    // Decoders skip what is not base64url, and bits that make no byte.
    ...['A', '=', '%', ' ', '\n'].map((end) => ({ cursor: `${cursorOf(idOf(7))}${end}` })),
    { cursor: [cursorOf(idOf(7)), cursorOf(idOf(7))] },
  ])('is not asked for by %j', (query) => {
    expect(() => readPage(query, 'msg')).toThrow(expect.objectContaining({ code: 'validation_failed' }) as Error);
  });

  it('reports all faults of its parameters at once', () => {
    const more = (_query: unknown, errors: { pointer: string; detail: string }[]) => {
      errors.push({ pointer: '', detail: 'status is unknown.' });
      return {};
    };
    const read = () => readPage({ limit: '0', cursor: 'x' }, 'msg', more);
    let errors: unknown;
    try {
      read();
    } catch (error) {
      ({ errors } = error as { errors: unknown });
    }
    expect(errors).toHaveLength(3);
  });
});
