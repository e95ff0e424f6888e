import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { ROOT } from '../support/processes.js';

interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly (readonly [name: string, args: string])[];
}

interface Lock {
  readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8').replace(/^#.*\n/gm, '');

/** The stages of the repository's Dockerfile; the last one, without a name, is the image. */
export const STAGES: readonly Stage[] = read('Dockerfile')
  .replace(/\\\n/g, ' ')
  .split(/^FROM /m)
  .slice(1)
  .map((text) => {
    const [, base = '', name = ''] = /^(\S+)(?: AS (\S+))?\n/.exec(text) ?? [];
    const instructions = [...text.matchAll(/^([A-Z]+) +(.*)$/gm)].map(
      ([, key = '', args = '']) => [key, args] as const,
    );
    return { name, base, instructions };
  });

/** The arguments of an instruction of the image. */
export function argsOf(name: string): string {
  const found = STAGES.at(-1)?.instructions.findLast(([other]) => other === name);
  if (found === undefined) throw new Error(`The Dockerfile has no ${name}.`);
  return found[1];
}

/** The command of an instruction, which is in the form that runs without a shell. */
export function commandOf(name: string): string[] {
  return JSON.parse(/\[.*\]$/.exec(argsOf(name))?.[0] ?? 'null') as string[];
}

/** Whether .dockerignore excludes a file of the repository. */
export function isIgnored(path: string): boolean {
  const wild: Record<string, string> = { '**/': '(?:.*/)?', '*': '[^/]*', '.': '\\.' };
  const patterns = read('.dockerignore').split('\n').filter(Boolean);
  const last = patterns.findLast((pattern) => {
    const regex = pattern.replace('!', '').replace(/\*\*\/|[*.]/g, (part) => wild[part] ?? part);
    // A pattern that names a folder also matches its contents.
    return new RegExp(`^${regex}(/.*)?$`).test(path);
  });
  return last?.startsWith('!') === false;
}

/**
 * Executes the stages in a folder instead of images. Packages are links to the packages of this clone. @returns the
 * image
 */
export function build(folder: string): string {
  const root = (stage: string) => join(folder, stage || 'image');
  for (const { name, instructions } of STAGES) {
    let cwd = '/';
    for (const [instruction, args] of instructions) {
      if (instruction === 'WORKDIR') cwd = args;
      const there = join(root(name), cwd);
      mkdirSync(there, { recursive: true });
      if (instruction === 'COPY') copy(args, there, root);
      if (instruction === 'RUN' && args.startsWith('npm ci ')) linkPackages(args, there);
      else if (instruction === 'RUN') execFileSync('sh', ['-c', args], { cwd: there, stdio: 'pipe' });
    }
  }
  return root('');
}

function copy(args: string, cwd: string, root: (stage: string) => string): void {
  const [, stage, rest = ''] = /^(?:--from=(\S+) +)?(.*)$/.exec(args) ?? [];
  const paths = rest.split(/ +/);
  const to = paths.pop() ?? '';
  for (const path of paths) {
    const target = to.endsWith('/') ? join(cwd, to, basename(path)) : join(cwd, to);
    if (stage !== undefined) renameSync(join(root(stage), path), target);
    else if (isIgnored(path)) throw new Error(`${path} is copied by the Dockerfile and excluded by .dockerignore.`);
    else cpSync(join(ROOT, path), target, { recursive: true, filter: (file) => !isIgnored(relative(ROOT, file)) });
  }
}

/** Links the packages that `npm ci` would install. */
function linkPackages(command: string, cwd: string): void {
  const omitted = [...command.matchAll(/--omit=(\w+)/g)].map(([, kind = '']) => kind);
  if (omitted.length === 0) {
    symlinkSync(join(ROOT, 'node_modules'), join(cwd, 'node_modules'));
    return;
  }
  const { packages } = JSON.parse(readFileSync(join(cwd, 'package-lock.json'), 'utf8')) as Lock;
  for (const [path, entry] of Object.entries(packages)) {
    // Linked packages find their own dependencies in the original folder.
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path)) continue;
    if (['devOptional', ...omitted].some((kind) => entry[kind] === true)) continue;
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(cwd, path));
  }
}
