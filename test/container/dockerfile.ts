import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/processes.js';

export interface Instruction {
  readonly name: string;
  readonly args: string;
}

export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** The stages of the repository's Dockerfile. */
export function readStages(): Stage[] {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n');
  const stages: { name: string; base: string; instructions: Instruction[] }[] = [];
  for (const line of lines.filter((candidate) => candidate.trim() !== '')) {
    const [, name = '', args = ''] = /^([A-Z]+) +(.*)$/.exec(line.trim()) ?? [];
    if (name === 'FROM') {
      const [, base = '', as] = /^(\S+)(?: AS (\S+))?$/.exec(args) ?? [];
      stages.push({ name: as ?? '', base, instructions: [] });
    } else if (name === '' || stages.length === 0) throw new Error(`Unknown syntax in the Dockerfile: ${line}`);
    else stages.at(-1)?.instructions.push({ name, args });
  }
  return stages;
}

/** The arguments of the last instruction of this name. */
export function argsOf(stage: Stage | undefined, name: string): string {
  const found = stage?.instructions.findLast((instruction) => instruction.name === name);
  if (found === undefined) throw new Error(`The Dockerfile has no ${name}.`);
  return found.args;
}

/** A command in exec form, which runs without a shell. */
export function execForm(args: string): string[] {
  const list: unknown = JSON.parse(/\[.*\]$/.exec(args)?.[0] ?? 'null');
  if (!Array.isArray(list)) throw new Error(`${args} is not in exec form.`);
  return list.map(String);
}

/** Whether .dockerignore excludes a file of the repository. */
export function isIgnored(path: string): boolean {
  let ignored = false;
  for (const line of readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const pattern = line.replace('!', '');
    // A pattern that names a folder also matches its contents.
    if (new RegExp(`^${regexOf(pattern)}(/.*)?$`).test(path)) ignored = !line.startsWith('!');
  }
  return ignored;
}

function regexOf(pattern: string): string {
  const wild: Record<string, string> = { '**/': '(?:.*/)?', '*': '[^/]*', '.': '\\.' };
  return pattern.replace(/\*\*\/|[*.]/g, (part) => wild[part] ?? part);
}
