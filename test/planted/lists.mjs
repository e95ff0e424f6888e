/**
 * The planted defects: every other file of this folder is a list of one area. A defect is
 *
 *     { what, file, find, replace, tests }
 *
 * `what` says in words what is wrong. `find` occurs once in `file`; `replace`, in its place, plants the defect. In each of
 * `tests`, which are files, a test must then fail. Paths are relative to the repository.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LONG } from '../long.mjs';

/** Modules of this folder that are no lists. */
const PROGRAMS = ['copy.mjs', 'lists.mjs', 'run.mjs'];

/** The part of all defects that `npm test` must notice. */
const NOTICED = 0.95;

/**
 * The defects of all areas, each with the name of its area.
 * @param words selects by the name of an area or a part of `what`
 */
export async function readDefects(words = []) {
  const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.mjs') && !PROGRAMS.includes(name));
  const lists = await Promise.all(
    names.sort().map(async (name) => {
      const area = name.replace(/\.mjs$/, '');
      const { default: defects } = await import(`./${name}`);
      return defects.map((defect) => ({ area, ...defect }));
    }),
  );
  const isChosen = ({ area, what }) => words.length === 0 || words.some((word) => area === word || what.includes(word));
  return lists.flat().filter(isChosen);
}

/** What is wrong with a defect in the folder of a repository, in a sentence; null if it can be planted. */
export function problemOf({ file, find, replace, tests }, folder) {
  if (!existsSync(join(folder, file))) return `${file} does not exist`;
  const count = readFileSync(join(folder, file), 'utf8').split(find).length - 1;
  if (count !== 1) return `${file} has what is replaced ${count} times`;
  if (replace === find) return 'nothing is changed';
  if (tests.length === 0) return 'no tests are named';
  const missing = tests.find((path) => !path.endsWith('.spec.ts') || !existsSync(join(folder, path)));
  return missing === undefined ? null : `${missing} does not exist`;
}

/** What is wrong with all of them together, in a sentence; null if `npm test`, without its long tests, notices enough. */
export function problemOfAll(defects) {
  const isLong = (path) => LONG.some((pattern) => new RegExp(pattern).test(path));
  const noticed = defects.filter(({ tests }) => !tests.every(isLong));
  if (noticed.length >= NOTICED * defects.length) return null;
  return `npm test notices ${noticed.length} of ${defects.length} defects`;
}
