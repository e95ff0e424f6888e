import { pagesWithCommands, runPage } from './run-page.js';
import { readPages } from './page.js';
import type { Shell } from './shell.js';
import { Stage } from './stage.js';

const DEADLINE = 600_000;

describe('The commands of a page that starts no services, on one `npm start` for all,', () => {
  let stage: Stage;
  let shell: Shell;
  beforeAll(async () => {
    stage = await Stage.clone();
    shell = await stage.openShell();
    await shell.serve('npm start', 'Sluice is ready');
  }, DEADLINE);
  afterAll(async () => {
    await shell.close();
    await stage.remove();
  }, DEADLINE);

  it.each(pagesWithCommands({ startServices: false }))(
    'work: %s',
    async (path, page) => runPage(page, await stage.withNewAccount(path)),
    DEADLINE,
  );
});

it('The commands of a page are run, or the page gives a reason', () => {
  const skipped = readPages().flatMap(({ blocks }) => blocks.filter(({ marks }) => marks['not run'] !== undefined));
  const list = skipped.map(({ page, line, marks }) => `${page}:${line}: ${marks['not run'] ?? ''}`);
  process.stdout.write(`Not run:\n${list.join('\n')}\n`);
  expect(skipped.filter(({ marks }) => !/^\S.{9,}/.test(marks['not run'] ?? ''))).toEqual([]);
});
