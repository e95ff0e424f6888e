import { pagesWithCommands, runPage } from './run-page.js';
import { Stage } from './stage.js';

/** As a reader does, who starts with README.md and has one installation, and stops its services after each page. */
describe('The commands of a page that starts its own services, pasted after those of the others,', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.clone();
  });
  afterAll(() => stage.remove());

  it.each(pagesWithCommands({ startServices: true }))(
    'work, and leave no files: %s',
    async (_, page) => {
      await runPage(page, stage);
      expect(await stage.leftFiles()).toEqual([]);
    },
    600_000,
  );
});
