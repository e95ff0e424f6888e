import { requireDirectConnection } from '#platform/database/direct-connection.js';
import { readSettings, type Settings } from '#platform/settings.js';
import { migrateSchema } from '../schema.js';
import { runApp } from './child-process.js';
import { DataDir } from './data-dir.js';
import { DevDatabase } from './database.js';
import { ensureDevKey } from './dev-key.js';
import { Kept } from './kept.js';
import { nextFreePort, usablePort } from './port.js';
import { StartError } from './start-error.js';

/** What a person needs to know to use what was started. */
export interface Started {
  readonly host: string;
  readonly port: number;
  /** Of health and metrics: the API's, and the worker's if there is one. */
  readonly management: { readonly host: string; readonly ports: readonly number[] };
  /** Where the password of the pages on the queue is kept; null without such a page. */
  readonly queue: string | null;
  readonly apiKey: string;
  readonly dataDir: DataDir;
}

/** How much longer than its own grace a child may take to stop, in milliseconds. */
const extraGrace = 2_000;

/** Everything under one roof: database, API and worker. */
export class Supervisor {
  private readonly apps: Kept[] = [];
  private database: Kept | undefined;

  constructor(private readonly env: NodeJS.ProcessEnv) {}

  /**
   * Rejects with a sentence for people (StartError, EmbeddedPostgresError, SettingsError, EndedTooSoon, DomainError) when
   * something cannot be started. What has been started by then is still to be stopped.
   */
  async start(stopping: AbortSignal): Promise<Started> {
    const dataDir = await DataDir.open(given(this.env.DATA_DIR) ?? '.data');
    const env = await this.completed(dataDir);
    const { http, management, ...settings } = readSettings(env);
    const names = appNames(env);
    const port = await usablePort(http.port, http.host);
    if (port === undefined) {
      throw new StartError(`Port ${http.port} is in use: stop what uses it or set PORT to another one.`);
    }
    const ports = await this.managementPorts(names.length, management, port);
    const url = given(this.env.DATABASE_URL) ?? (await this.startDatabase(dataDir, stopping));
    stopping.throwIfAborted();
    await requireDirectConnection(url);
    await migrateSchema(url);
    stopping.throwIfAborted();
    // Who tries things out wants to see each request.
    const ACCESS_LOG_SAMPLE = given(env.ACCESS_LOG_SAMPLE) ?? '1';
    const appEnv = { ...env, DATABASE_URL: url, PORT: String(port), ACCESS_LOG_SAMPLE };
    const made = given(this.env.ADMIN_API_KEY) === undefined && settings.adminApiKey !== null;
    const queue = made ? dataDir.file('admin-api-key') : settings.adminApiKey === null ? null : 'ADMIN_API_KEY';
    const [apiKey] = await Promise.all([
      ensureDevKey(dataDir, { ...settings, http, management, database: { ...settings.database, url } }),
      ...this.startApps(names, ports, appEnv, settings),
    ]);
    return { host: http.host, port, management: { host: management.host, ports }, queue, apiKey, dataDir };
  }

  /** In the reverse order, so that whoever has work in hand can still store its outcome. */
  async stop(hurry: AbortSignal): Promise<void> {
    await Promise.all(this.apps.map((app) => app.stop(hurry)));
    await this.database?.stop(hurry);
  }

  /** Without a database of the user's own, the secrets that belong to its data are ours to keep, too. */
  private async completed(dataDir: DataDir): Promise<NodeJS.ProcessEnv> {
    if (given(this.env.DATABASE_URL) !== undefined) return this.env;
    return {
      ...this.env,
      DATABASE_URL: 'postgres://127.0.0.1',
      API_KEY_PEPPER: given(this.env.API_KEY_PEPPER) ?? (await dataDir.secret('api-key-pepper')),
      ADMIN_API_KEY: given(this.env.ADMIN_API_KEY) ?? (await dataDir.secret('admin-api-key')),
    };
  }

  private async startDatabase(dataDir: DataDir, stopping: AbortSignal): Promise<string> {
    stopping.throwIfAborted();
    console.log(`Starting PostgreSQL in ${dataDir.file('postgres')} …`);
    const database = new DevDatabase(dataDir);
    this.database = database.kept;
    await database.kept.start();
    return database.url;
  }

  /** A port for each process. One that nobody has asked for gives way to whatever uses it, and to the API. */
  private async managementPorts(
    count: number,
    { host, port }: Settings['management'],
    apiPort: number,
  ): Promise<number[]> {
    const asked = given(this.env.MANAGEMENT_PORT) !== undefined;
    const first = asked ? await usablePort(port, host) : await nextFreePort(port, host, apiPort);
    if (first === undefined) {
      throw new StartError(`Port ${port} is in use: stop what uses it or set MANAGEMENT_PORT to another one.`);
    }
    const ports = [first];
    while (ports.length < count) ports.push(await nextFreePort((ports.at(-1) ?? 0) + 1, host, apiPort));
    return ports;
  }

  private startApps(
    names: AppName[],
    ports: number[],
    env: NodeJS.ProcessEnv,
    { shutdownGraceMs }: Pick<Settings, 'shutdownGraceMs'>,
  ): Promise<void>[] {
    for (const [index, name] of names.entries()) {
      const appEnv = { ...env, MANAGEMENT_PORT: String(ports[index]) };
      this.apps.push(
        new Kept(`The ${name} process`, () => Promise.resolve(runApp(name, appEnv, shutdownGraceMs + extraGrace))),
      );
    }
    return this.apps.map((app) => app.start());
  }
}

type AppName = 'api' | 'worker';

function appNames({ WORKER }: NodeJS.ProcessEnv): AppName[] {
  const text = given(WORKER) ?? 'on';
  if (text !== 'on' && text !== 'off') throw new StartError(`WORKER must be one of on, off; it is "${text}".`);
  return text === 'on' ? ['api', 'worker'] : ['api'];
}

/** An empty variable counts as none, as it does for all settings. */
function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
