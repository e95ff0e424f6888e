import { pagePaths, readPage, type Page } from './page.js';
import { hasCommands, runPage, startsServices } from './run-page.js';
import type { Shell } from './shell.js';
import { Stage } from './stage.js';

const DEADLINE = 600_000;
const pages = pagePaths().map(readPage);

/** One `npm start` for all pages that start no services. */
let shared: Promise<{ readonly stage: Stage; readonly shell: Shell }> | undefined;

async function startShared() {
  const stage = await Stage.clone();
  const shell = await stage.openShell();
  await shell.serve('npm start', 'Sluice is ready');
  return { stage, shell };
}

async function runOnOwnStage(page: Page): Promise<void> {
  const stage = await Stage.clone();
  await runPage(page, stage).finally(() => stage.remove());
}

describe('The commands of a page', () => {
  afterAll(async () => {
    const running = await shared;
    await running?.shell.close();
    await running?.stage.remove();
  }, DEADLINE);

  // Concurrent, since pages mostly wait for programs.
  it.concurrent.each(pages.filter(hasCommands).map((page) => [page.path, page] as const))(
    'work: %s',
    async (_path, page) => {
      if (startsServices(page)) return runOnOwnStage(page);
      const { stage } = await (shared ??= startShared());
      await runPage(page, await stage.withNewAccount(page.path));
    },
    DEADLINE,
  );

  it('are run, or the page gives a reason', () => {
    const skipped = pages.flatMap(({ blocks }) => blocks.filter(({ marks }) => marks['not run'] !== undefined));
    const list = skipped.map(({ page, line, marks }) => `${page}:${line}: ${marks['not run'] ?? ''}`);
    process.stdout.write(`Not run:\n${list.join('\n')}\n`);
    expect(skipped.filter(({ marks }) => !/^\S.{9,}/.test(marks['not run'] ?? ''))).toEqual([]);
  });
});
