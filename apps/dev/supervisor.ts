import { statfs } from 'node:fs/promises';
import { requireUsableDatabase } from '#platform/database/usable-database.js';
import { requireUsableRedis } from '#platform/redis/usable-redis.js';
import { Environment } from '#platform/process/environment.js';
import { portInUse } from '#platform/process/listen-error.js';
import { UsageError } from '#platform/process/usage-error.js';
import { migrateSchema } from '../schema.js';
import { readSettings, type Settings } from '../settings.js';
import { AutoRestart } from './auto-restart.js';
import { runApp } from './child-process.js';
import { DataDir } from './data-dir.js';
import { ensureDevKey, type DevKey } from './dev-key.js';
import { EmbeddedPostgres, withoutTls } from './embedded-postgres/embedded-postgres.js';
import { nextFreePort, usablePort } from './port.js';

/** What users need to know about the started processes. */
export interface Started {
  readonly host: string;
  readonly port: number;
  /** For health and metrics: the API's port, and the worker's if there is one. */
  readonly management: { readonly host: string; readonly ports: readonly number[] };
  /** Where to find the operators' key; null if there is none. */
  readonly operatorsKey: string | null;
  readonly hasPortal: boolean;
  readonly devKey: DevKey;
  readonly isSignupOpen: boolean;
  readonly dataDir: DataDir;
}

/** How much longer than its own grace period a child may take to stop. */
const EXTRA_GRACE_MS = 2_000;

/** Of a small disk, this share must be free instead of the default of MIN_FREE_DISK_MB. */
const MIN_FREE_SHARE = 0.05;

/** Runs PostgreSQL, the API and the worker. */
export class Supervisor {
  private readonly env: Environment;
  private readonly apps: AutoRestart[] = [];
  private database: AutoRestart | undefined;
  private postgres: EmbeddedPostgres | undefined;

  constructor(private readonly variables: NodeJS.ProcessEnv) {
    this.env = new Environment(variables);
  }

  /** Rejects if something cannot be started. What has been started by then must still be stopped. */
  async start(stopping: AbortSignal): Promise<Started> {
    const dataDir = await DataDir.open(this.env.optional('DATA_DIR') ?? '.data');
    const variables = await this.appVariables(dataDir);
    const settings = readSettings(variables);
    const { http, management } = settings;
    const names =
      this.env.oneOf('WORKER', 'on', ['on', 'off']) === 'on' ? (['api', 'worker'] as const) : ['api' as const];
    const port = await usablePort(http.port, http.host);
    if (port === undefined) throw new UsageError(portInUse(http.port));
    const ports = await this.managementPorts(names.length, management, port);
    const ownUrl = this.env.optional('DATABASE_URL');
    const url = ownUrl ?? (await this.startDatabase(dataDir, stopping));
    stopping.throwIfAborted();
    await requireUsableDatabase(url);
    await migrateSchema(url);
    if (settings.redis !== null) await requireUsableRedis(settings.redis);
    stopping.throwIfAborted();
    const graceMs = settings.shutdownGraceMs + EXTRA_GRACE_MS;
    for (const [index, name] of names.entries()) {
      const env = { ...variables, DATABASE_URL: url, PORT: String(port), MANAGEMENT_PORT: String(ports[index]) };
      this.apps.push(new AutoRestart(`The ${name} process`, () => Promise.resolve(runApp(name, env, graceMs))));
    }
    const [devKey] = await Promise.all([
      ensureDevKey(dataDir, ownUrl, { ...settings, database: { ...settings.database, url } }),
      ...this.apps.map((app) => app.start()),
    ]);
    const isGenerated = this.env.optional('ADMIN_API_KEY') === undefined;
    const keyFile = isGenerated ? dataDir.file('admin-api-key') : 'ADMIN_API_KEY';
    const operatorsKey = settings.operatorKeys.length === 0 ? null : keyFile;
    const isSignupOpen = settings.signup.open;
    return {
      ...{ host: http.host, port, management: { host: management.host, ports } },
      ...{ operatorsKey, hasPortal: settings.portal, devKey, isSignupOpen, dataDir },
    };
  }

  async restartApps(hurry: AbortSignal): Promise<void> {
    await Promise.all(this.apps.map((app) => app.restart(hurry)));
  }

  /** The database last: the others still store the outcome of work in progress. */
  async stop(hurry: AbortSignal): Promise<void> {
    await Promise.all(this.apps.map((app) => app.stop(hurry)));
    await this.database?.stop(hurry);
  }

  /** The settings of the apps. The embedded database keeps the secrets that belong to its data. */
  private async appVariables(dataDir: DataDir): Promise<NodeJS.ProcessEnv> {
    // Log every request by default.
    const variables = { ...this.variables, ACCESS_LOG_SAMPLE: this.env.optional('ACCESS_LOG_SAMPLE') ?? '1' };
    if (this.env.optional('DATABASE_URL') !== undefined) return variables;
    const { blocks, bsize } = await statfs(dataDir.path);
    const minFreeMb = Math.min(512, Math.floor((blocks * bsize * MIN_FREE_SHARE) / 1_048_576));
    return {
      ...variables,
      DATABASE_URL: 'postgres://127.0.0.1',
      DATABASE_DIR: dataDir.path,
      MIN_FREE_DISK_MB: this.env.optional('MIN_FREE_DISK_MB') ?? String(minFreeMb),
      SIGNUP: this.env.optional('SIGNUP') ?? 'open',
      API_KEY_PEPPER: this.env.optional('API_KEY_PEPPER') ?? (await dataDir.secret('api-key-pepper')),
      SECRETS_KEY: this.env.optional('SECRETS_KEY') ?? (await dataDir.secret('secrets-key')),
      ADMIN_API_KEY: this.env.optional('ADMIN_API_KEY') ?? (await dataDir.secret('admin-api-key')),
    };
  }

  private async startDatabase(dataDir: DataDir, stopping: AbortSignal): Promise<string> {
    stopping.throwIfAborted();
    const path = dataDir.file('postgres');
    console.log(`Starting PostgreSQL in ${path} …`);
    // They are about another server. The apps have them, for handlers that use one.
    const ofLibpq = Object.keys(process.env).filter((name) => /^PG[A-Z]/.test(name));
    for (const name of ofLibpq) Reflect.deleteProperty(process.env, name);
    this.database = new AutoRestart('PostgreSQL', async (ending) => {
      // On the same port again, so that its URL stays valid.
      const port = this.postgres?.port;
      const server = await EmbeddedPostgres.start({ dataDir: path, database: 'sluice', port, stopping: ending });
      this.postgres = server;
      return {
        ended: server.exited.then(() => 'see server.log in its data'),
        ready: Promise.resolve(),
        stop: () => server.stop(),
      };
    });
    await this.database.start();
    if (this.postgres === undefined) throw new Error('PostgreSQL has not been started.');
    return withoutTls(this.postgres.url);
  }

  /** A port for each process. The default port is replaced by a free one if it is in use or the API's. */
  private async managementPorts(
    count: number,
    { host, port }: Settings['management'],
    apiPort: number,
  ): Promise<number[]> {
    const isChosen = this.env.optional('MANAGEMENT_PORT') !== undefined;
    const first = isChosen ? await usablePort(port, host) : await nextFreePort(port, host, apiPort);
    if (first === undefined) throw new UsageError(portInUse(port, 'MANAGEMENT_'));
    const ports = [first];
    while (ports.length < count) ports.push(await nextFreePort((ports.at(-1) ?? 0) + 1, host, apiPort));
    return ports;
  }
}
