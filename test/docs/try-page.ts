import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeClone } from './clone.js';
import { differences } from './example.js';
import type { Block, Page } from './page.js';
import { Stage } from './stage.js';

const ANSWERS = ['http', 'json', 'text'];
/** How long a program that serves may take to print what a page shows, in milliseconds. */
const PATIENCE = 30_000;

/** Whether there is a command on a page that is to be run. */
export function hasCommands(page: Page): boolean {
  return page.blocks.some(isCommand);
}

/**
 * Does what a page says, from its first line to its last: writes its files, runs its commands, compares its answers.
 * @param makeFolder makes where it is done
 * @throws Error that names the line when a command fails or is answered differently
 */
export async function tryPage(page: Page, makeFolder = makeClone): Promise<void> {
  const stage = await Stage.set(await makeFolder());
  try {
    if (!page.blocks.some(({ marks }) => marks.serves !== undefined)) await stage.startSluice();
    if (page.marks.limits === 'lifted') await stage.liftLimits();
    await follow(page, stage);
  } catch (error) {
    // What went wrong first is what counts.
    await stage.close().catch(() => undefined);
    throw error;
  }
  await stage.close();
}

async function follow(page: Page, stage: Stage): Promise<void> {
  let command: Block | undefined;
  let printed = (): string => '';
  for (const block of page.blocks.filter(({ marks }) => marks['not run'] === undefined)) {
    const { needs } = block.marks;
    if (needs !== undefined && !isInstalled(needs)) {
      process.stdout.write(`${page.path}:${block.line}: not run, since this machine has no ${needs}\n`);
      command = undefined;
      continue;
    }
    try {
      const by = block.marks['printed by'];
      if (block.marks.file !== undefined) await stage.write(block.marks.file, block.text);
      else if (by !== undefined) await compare(block, () => stage.servedBy(by), stage);
      else if (isCommand(block)) printed = await perform(block, stage);
      else if (isAnswerTo(command, block)) await compare(block, printed, stage);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${page.path}:${block.line}: ${reason}\n\nIn:\n${block.text}`, { cause: error });
    }
    command = isCommand(block) ? block : undefined;
  }
}

/** @returns what it has printed by then, which a program that serves goes on to do */
async function perform({ marks, text }: Block, stage: Stage): Promise<() => string> {
  if (marks.stops !== undefined) await stage.stopServices();
  if (marks.serves !== undefined) return stage.serve(text, marks.serves);
  const printed = await stage.run(text);
  return () => printed;
}

async function compare(answer: Block, printed: () => string, stage: Stage): Promise<void> {
  const expected = await stage.adapted(answer.text);
  const deadline = Date.now() + (answer.marks['printed by'] === undefined ? 0 : PATIENCE);
  for (;;) {
    const wrong = differences(answer.language, expected, printed());
    if (wrong.length === 0) return;
    if (Date.now() > deadline) throw new Error(`${wrong.join('; ')}. Printed was:\n${printed()}`);
    await sleep(50);
  }
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** An answer is the next block after its command, in the same section. */
function isAnswerTo(command: Block | undefined, { language, section }: Block): boolean {
  return ANSWERS.includes(language) && section === command?.section;
}

function isCommand({ language, marks }: Block): boolean {
  return language === 'sh' && marks['not run'] === undefined;
}
