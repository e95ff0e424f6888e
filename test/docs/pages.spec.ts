import { pagePaths, readPage } from './page.js';
import { hasCommands, tryPage } from './try-page.js';

const DEADLINE = 600_000;
const pages = pagePaths().map(readPage);

describe('What a page says to do', () => {
  // Side by side: each has a folder, ports and a database of its own, and waits most of its time for programs.
  it.concurrent.each(pages.filter(hasCommands).map((page) => [page.path, page] as const))(
    'works: %s',
    async (_path, page) => {
      await tryPage(page);
    },
    DEADLINE,
  );

  it('is run, or the page says why not', () => {
    const left = pages.flatMap(({ blocks }) => blocks.filter(({ marks }) => marks['not run'] !== undefined));
    const list = left.map(({ page, line, marks }) => `${page}:${line}: ${marks['not run'] ?? ''}`);
    process.stdout.write(`Not run:\n${list.join('\n')}\n`);
    expect(left.filter(({ marks }) => !/^\S.{9,}/.test(marks['not run'] ?? ''))).toEqual([]);
  });
});
