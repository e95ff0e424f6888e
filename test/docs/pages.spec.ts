import { pagesWithCommands, pastePage } from './run-page.js';
import { readPages } from './page.js';
import type { Shell } from './shell.js';
import { Stage } from './stage.js';

const DEADLINE = 600_000;

/** As somebody does who pastes one page after another: in one terminal, with one installation and its account. */
describe('The commands of a page that starts no services, pasted after those of the others,', () => {
  let stage: Stage;
  let service: Shell;
  let shell: Shell;
  beforeAll(async () => {
    stage = await Stage.clone();
    service = await stage.openShell();
    await service.serve('npm start', 'Sluice is ready');
    shell = await stage.openShell();
  }, DEADLINE);
  afterAll(async () => {
    await Promise.all([shell.close(), service.close()]);
    await stage.remove();
  }, DEADLINE);

  it.each(pagesWithCommands({ startServices: false }))(
    'work, and leave no files: %s',
    async (_, page) => {
      try {
        await pastePage(page, stage, shell);
        expect(await stage.leftFiles()).toEqual([]);
      } catch (error) {
        // The shell ends with a command that fails.
        await shell.close();
        shell = await stage.openShell();
        throw error;
      }
    },
    DEADLINE,
  );
});

it('The commands of a page are run, or the page gives a reason', () => {
  const skipped = readPages().flatMap(({ blocks }) => blocks.filter(({ marks }) => marks['not run'] !== undefined));
  const list = skipped.map(({ page, line, marks }) => `${page}:${line}: ${marks['not run'] ?? ''}`);
  process.stdout.write(`Not run:\n${list.join('\n')}\n`);
  expect(skipped.filter(({ marks }) => !/^\S.{9,}/.test(marks['not run'] ?? ''))).toEqual([]);
});
