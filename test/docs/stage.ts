import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { freePort } from '../support/processes.js';
import type { Folder } from './clone.js';
import { Session } from './session.js';

/** The database that pages speak of as the reader's own. */
const EXAMPLE_DATABASE = 'postgres://sluice:sluice@127.0.0.1:5432/sluice';
const READY = 'Sluice is ready';
/** Ports of the API and of the management, on pages that run several processes. */
const FAMILIES = [3000, 9464];
const FAMILY_SIZE = 4;

/**
 * Where a page is tried: a clone of its own and a shell in it. Ports and the database that the page names are exchanged
 * for ones that are free, so that pages can be tried side by side, on any machine.
 */
export class Stage {
  private readonly ports = new Map<number, number>();
  private database: TestDatabase | null = null;
  private session: Session | null = null;

  private constructor(private readonly clone: Folder) {}

  static async set(clone: Folder): Promise<Stage> {
    const stage = new Stage(clone);
    // Nothing of the caller's own settings may leak into a page.
    const { PATH = '', HOME = '', TMPDIR } = process.env;
    const env = { PATH, HOME, LANG: 'C.UTF-8', ...(TMPDIR === undefined ? {} : { TMPDIR }) };
    const ports = { PORT: await stage.portFor('3000'), MANAGEMENT_PORT: await stage.portFor('9464') };
    const listening = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)]));
    stage.session = await Session.open(stage.clone.path, { ...env, HOST: '127.0.0.1', ...listening });
    return stage;
  }

  async run(script: string): Promise<string> {
    return this.shell.run(await this.adapted(script));
  }

  async serve(script: string, sign: string): Promise<() => string> {
    return this.shell.serve(await this.adapted(script), sign);
  }

  /** What the program that this command started has printed by now. */
  servedBy(command: string): string {
    return this.shell.servedBy(command);
  }

  stopServices(): Promise<void> {
    return this.shell.stopServices();
  }

  /** What pages assume that they don't start by themselves: `npm start` in this folder. */
  async startSluice(): Promise<void> {
    await this.serve('npm start', READY);
  }

  /** Gives the account of `.data/dev-key` more than any page needs, as an operator would. */
  async liftLimits(): Promise<void> {
    const url = `http://127.0.0.1:${await this.portFor('3000')}`;
    const secret = async (name: string) => (await readFile(join(this.clone.path, '.data', name), 'utf8')).trim();
    const bearer = async (name: string) => ({ authorization: `Bearer ${await secret(name)}` });
    const account = await fetch(`${url}/account`, { headers: await bearer('dev-key') });
    const { id } = (await account.json()) as { id: string };
    const response = await fetch(`${url}/admin/accounts/${id}`, {
      method: 'PATCH',
      headers: { ...(await bearer('admin-api-key')), 'content-type': 'application/json' },
      body: JSON.stringify({ plan: 'enterprise', limits: { perMinute: 1_000_000, perDay: 100_000_000 } }),
    });
    if (!response.ok) throw new Error(`The limits were not lifted: ${response.status}`);
  }

  async write(file: string, text: string): Promise<void> {
    const path = join(this.clone.path, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${await this.adapted(text)}\n`);
  }

  /** What a page shows, with what was exchanged. */
  async adapted(text: string): Promise<string> {
    let adapted = text;
    if (text.includes(EXAMPLE_DATABASE)) {
      this.database ??= await createTestDatabase();
      adapted = adapted.replaceAll(EXAMPLE_DATABASE, this.database.url);
    }
    // The port of a database is that of a real one.
    const named = adapted.matchAll(/(?<=PORT=|(?<!@)\b127\.0\.0\.1:)\d{4,5}\b/g);
    for (const port of new Set([...named].map(([number]) => number))) {
      const free = await this.portFor(port);
      adapted = adapted.replace(new RegExp(`(?<=PORT=|(?<!@)127\\.0\\.0\\.1:)${port}\\b`, 'g'), String(free));
    }
    return adapted;
  }

  async close(): Promise<void> {
    try {
      await this.session?.close();
    } finally {
      await this.database?.drop();
      await this.clone.remove();
    }
  }

  private get shell(): Session {
    if (this.session === null) throw new Error('The stage was not set.');
    return this.session;
  }

  /** Neighbours stay neighbours: a program may take the next port for its second process. */
  private async portFor(documented: string): Promise<number> {
    const first = FAMILIES.find((port) => Number(documented) >= port && Number(documented) < port + FAMILY_SIZE);
    const base = first ?? Number(documented);
    const mapped = this.ports.get(base) ?? (await freePort(first === undefined ? 1 : FAMILY_SIZE));
    this.ports.set(base, mapped);
    return mapped + Number(documented) - base;
  }
}
