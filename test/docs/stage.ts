import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { freePort, ROOT } from '../support/processes.js';
import { Shell } from './shell.js';

/** The database URL of the examples. */
const EXAMPLE_DATABASE = 'postgres://sluice:sluice@127.0.0.1:5432/sluice';
/** First ports of the API and of management: a program may use the next ones for further processes. */
const PORT_RANGES = [3000, 9464];
const PORTS_PER_RANGE = 4;
/** What Git ignores, and the folders for the credentials of the user. */
const IGNORED = /^(node_modules|dist|coverage|\.data|\.config|\.state)\/|(^|\/)__pycache__\/|\.log$/;
/** Other tests write into the last two. */
const NOT_COPIED = ['.git', '.data', 'coverage', 'node_modules', 'dist/bench', 'dist/packages'];

/**
 * The folder, ports and database in which the commands of a page run. Ports and the database URL of the page are
 * replaced by free ones, so that pages can run side by side.
 */
export class Stage {
  private database: TestDatabase | null = null;

  constructor(
    private readonly folder: string,
    private readonly ports = new Map<number, number>(),
  ) {}

  /** A stage that looks like a fresh clone with packages and build. */
  static async clone(): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-docs-'));
    // Started by root, PostgreSQL runs as another user that needs access to its data.
    await chmod(folder, 0o755);
    await cp(ROOT, folder, { recursive: true, filter: (path) => !NOT_COPIED.includes(relative(ROOT, path)) });
    // One link per package: a command that empties node_modules must not empty the original.
    const [from, to] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')];
    await mkdir(to);
    for (const name of await readdir(from)) {
      if (name === '.package-lock.json') await cp(join(from, name), join(to, name));
      else await symlink(join(from, name), join(to, name));
    }
    return new Stage(folder);
  }

  async openShell(): Promise<Shell> {
    // Settings of the caller must not leak into a page.
    const { PATH = '', HOME = '', TMPDIR } = process.env;
    return Shell.open(this.folder, {
      ...{ PATH, HOME, LANG: 'C.UTF-8', ...(TMPDIR !== undefined && { TMPDIR }), HOST: '127.0.0.1' },
      // A page must not change the credentials of the user who runs the tests.
      XDG_CONFIG_HOME: join(this.folder, '.config'),
      XDG_STATE_HOME: join(this.folder, '.state'),
      PORT: String(await this.portFor(3000)),
      MANAGEMENT_PORT: String(await this.portFor(9464)),
    });
  }

  async write(file: string, text: string): Promise<void> {
    const path = join(this.folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${await this.adapt(text)}\n`);
  }

  /** Replaces ports and the database URL in a text. */
  async adapt(text: string): Promise<string> {
    let adapted = text;
    if (text.includes(EXAMPLE_DATABASE)) {
      this.database ??= await createTestDatabase();
      adapted = adapted.replaceAll(EXAMPLE_DATABASE, this.database.url);
    }
    // Not the port of a database URL.
    const port = /(?<=PORT=|(?<!@)\b127\.0\.0\.1:)\d{4,5}\b/g;
    const free = new Map<string, number>();
    for (const [documented] of adapted.matchAll(port)) free.set(documented, await this.portFor(Number(documented)));
    return adapted.replace(port, (documented) => String(free.get(documented)));
  }

  async remove(): Promise<void> {
    await this.database?.drop();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** The files that pages have written and left, but for those that Git ignores. */
  async leftFiles(): Promise<string[]> {
    const names = await readdir(this.folder, { recursive: true, withFileTypes: true });
    const paths = names
      .filter((one) => !one.isDirectory())
      .map((one) => relative(this.folder, join(one.parentPath, one.name)));
    return paths.filter((path) => !IGNORED.test(path) && !existsSync(join(ROOT, path)));
  }

  /** Adjacent ports stay adjacent. */
  private async portFor(documented: number): Promise<number> {
    const range = PORT_RANGES.find((first) => documented >= first && documented < first + PORTS_PER_RANGE);
    const base = range ?? documented;
    const free = this.ports.get(base) ?? (await freePort(range === undefined ? 1 : PORTS_PER_RANGE));
    this.ports.set(base, free);
    return free + documented - base;
  }
}
