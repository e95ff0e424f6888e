import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../support/processes.js';
import { isIgnored, type Instruction, type Stage } from './dockerfile.js';

interface Lock {
  readonly packages: Readonly<Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>>;
}

/** Executes the Dockerfile in a folder instead of an image. Packages are links to those of this clone. */
export class Build {
  private constructor(private readonly folder: string) {}

  static async of(stages: readonly Stage[]): Promise<Build> {
    const build = new Build(await mkdtemp(join(tmpdir(), 'sluice-image-')));
    await chmod(build.folder, 0o755);
    for (const stage of stages) {
      await mkdir(build.root(stage.name));
      let cwd = '/';
      for (const instruction of stage.instructions) {
        if (instruction.name === 'WORKDIR') cwd = instruction.args;
        const there = build.path(stage.name, cwd);
        await mkdir(there, { recursive: true });
        if (instruction.name === 'COPY') await build.copy(instruction, there);
        if (instruction.name === 'RUN') await run(instruction.args, there);
      }
    }
    return build;
  }

  /** The path of a file of a stage on this machine. */
  path(stage: string, path: string): string {
    return join(this.root(stage), path);
  }

  /** Every path below a folder of a stage. */
  async list(stage: string, path: string): Promise<string[]> {
    return (await readdir(this.path(stage, path), { recursive: true })).sort();
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  private root(stage: string): string {
    return join(this.folder, stage || 'final');
  }

  private async copy({ args }: Instruction, cwd: string): Promise<void> {
    const [, from, rest = ''] = /^(?:--from=(\S+) +)?(.*)$/.exec(args) ?? [];
    const paths = rest.split(/ +/);
    const to = paths.pop() ?? '';
    for (const path of paths) {
      const source = from === undefined ? join(ROOT, path) : this.path(from, path);
      const target = to.endsWith('/') ? join(cwd, to, path) : join(cwd, to);
      const filter = (file: string) => from !== undefined || !isIgnored(relative(ROOT, file));
      if (!filter(source)) throw new Error(`${path} is copied by the Dockerfile and excluded by .dockerignore.`);
      if (from === undefined) await cp(source, target, { recursive: true, filter });
      else await rename(source, target);
    }
  }
}

async function run(command: string, cwd: string): Promise<void> {
  if (command.startsWith('npm ci ')) await install(command, cwd);
  else execFileSync('sh', ['-c', command], { cwd, stdio: 'pipe' });
}

/** Links the packages that `npm ci` would install. */
async function install(command: string, cwd: string): Promise<void> {
  const omitted = (kind: string) => command.includes(`--omit=${kind}`);
  const { packages } = JSON.parse(readFileSync(join(cwd, 'package-lock.json'), 'utf8')) as Lock;
  if (!omitted('dev') && !omitted('optional')) {
    await symlink(join(ROOT, 'node_modules'), join(cwd, 'node_modules'));
    return;
  }
  // Linked packages find their own dependencies in the original folder.
  const wanted = Object.entries(packages).filter(
    ([path, { dev = false, optional = false, devOptional = false }]) =>
      /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) &&
      !(omitted('dev') && dev) &&
      !(omitted('optional') && optional) &&
      !devOptional,
  );
  for (const [path] of wanted) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await symlink(join(ROOT, path), join(cwd, path));
  }
}
