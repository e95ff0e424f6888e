import { pagesWithCommands, runPage } from './run-page.js';
import { Stage } from './stage.js';

describe('The commands of a page that starts its own services', () => {
  // Concurrent, since pages mostly wait for programs.
  it.concurrent.each(pagesWithCommands({ startServices: true }))(
    'work, and leave no files: %s',
    async (_path, page) => {
      const stage = await Stage.clone();
      try {
        await runPage(page, stage);
        expect(await stage.leftFiles()).toEqual([]);
      } finally {
        await stage.remove();
      }
    },
    600_000,
  );
});
