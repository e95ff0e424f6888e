import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { difference } from './compare.js';
import { readPage, readPages, type Block, type Page } from './page.js';
import type { Shell } from './shell.js';
import type { Stage } from './stage.js';

const OUTPUT_LANGUAGES = ['http', 'json', 'text'];
/** How long a service may take to print the expected output. */
const OUTPUT_TIMEOUT_MS = 30_000;

/**
 * The pages with commands, by their paths, in the order in which README.md lists them: pages that start their own services,
 * or pages that expect a running `npm start`.
 */
export function pagesWithCommands({ startServices }: { startServices: boolean }): (readonly [string, Page])[] {
  const { text } = readPage('README.md');
  const list = text.slice(text.indexOf('## Documentation'));
  // It does not list itself: a reader begins with it.
  const placeOf = ({ path }: Page) => list.indexOf(`(${path})`);
  return readPages()
    .sort((one, other) => placeOf(one) - placeOf(other))
    .filter(({ blocks }) => blocks.some(isCommand))
    .filter(({ blocks }) => blocks.some(({ marks }) => marks.serves !== undefined) === startServices)
    .map((page) => [page.path, page]);
}

/**
 * Follows a page from top to bottom: writes its files, runs its commands and compares their output.
 * @throws Error naming the line of the block that fails
 */
export async function runPage(page: Page, stage: Stage): Promise<void> {
  const shell = await stage.openShell();
  try {
    await pastePage(page, stage, shell);
  } catch (error) {
    // The first error is the one to report.
    await shell.close().catch(() => undefined);
    throw error;
  }
  await shell.close();
}

/** The same in a shell that may have run other pages. */
export async function pastePage(page: Page, stage: Stage, shell: Shell): Promise<void> {
  let command: Block | undefined;
  let output = (): string => '';
  for (const block of page.blocks.filter(({ marks }) => marks['not run'] === undefined)) {
    const { file, needs, serves, stops, 'printed by': service } = block.marks;
    if (needs !== undefined && !isInstalled(needs)) {
      process.stdout.write(`${page.path}:${block.line}: skipped, ${needs} is not installed\n`);
      command = undefined;
      continue;
    }
    try {
      if (file !== undefined) await stage.write(file, block.text);
      else if (service !== undefined) await compare(block, () => shell.service(service).output, stage);
      else if (isCommand(block)) {
        const script = await stage.adapt(block.text);
        if (stops !== undefined) await shell.stopServices();
        const started = serves === undefined ? { output: await shell.run(script) } : await shell.serve(script, serves);
        output = () => started.output;
      } else if (isOutputOf(command, block)) await compare(block, output, stage);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${page.path}:${block.line}: ${reason}\n\nIn:\n${block.text}`, { cause: error });
    }
    command = isCommand(block) ? block : undefined;
  }
}

async function compare(block: Block, output: () => string, stage: Stage): Promise<void> {
  const expected = await stage.adapt(block.text);
  const deadline = Date.now() + (block.marks['printed by'] === undefined ? 0 : OUTPUT_TIMEOUT_MS);
  for (;;) {
    const found = difference(block.language, expected, output());
    if (found === null) return;
    if (Date.now() > deadline) throw new Error(`${found}. Output:\n${output()}`);
    await sleep(50);
  }
}

function isInstalled(program: string): boolean {
  return spawnSync('which', [program]).status === 0;
}

/** The expected output is the next block after a command, in the same section. */
function isOutputOf(command: Block | undefined, { language, section }: Block): boolean {
  return OUTPUT_LANGUAGES.includes(language) && section === command?.section;
}

function isCommand({ language, marks }: Block): boolean {
  return language === 'sh' && marks['not run'] === undefined;
}
