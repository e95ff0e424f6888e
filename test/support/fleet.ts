import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { inspect } from '#delivery/adapters/bullmq/internals/postgres/job-ends.js';
import { PostgresStrayMessages } from '#delivery/adapters/postgres/postgres-stray-messages.js';
import { Ledger } from '../../apps/cli/verify/ledger.js';
import { formatReport, notKept } from '../../apps/cli/verify/report.js';
import { Verification } from '../../apps/cli/verify/verification.js';
import { migrateSchema } from '../../apps/schema.js';
import { SETTINGS, TestApi, type Account, type Settings } from './api.js';
import { DeployedPostgres } from './deployed-postgres.js';
import type { Link } from './link.js';
import { freePort, Program, until } from './processes.js';
import { smallDisk, type SmallDisk } from './small-disk.js';

interface StoredMessage {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly failureReason: string | null;
  readonly updatedAt: string;
}

interface Call {
  readonly id: string;
  readonly attempt: number;
  readonly message: string;
}

/** Defaults that make take-overs quick. */
const QUICK = {
  LOG_LEVEL: 'info',
  WORKER_LOCK_MS: '1000',
  BACKOFF_MS: '50',
  RECONCILE_INTERVAL_MS: '1500',
  OTEL_BSP_SCHEDULE_DELAY: '50',
};

const FOR_LOAD = { LOG_LEVEL: 'warn', HANDLER_MS: '5' };

/** An API and workers, which are processes of their own, on a database of their own, with an account. */
export class Fleet {
  private readonly programs: Program[] = [];
  private callers: Verification | null = null;
  private disk: SmallDisk | null = null;
  /** The processes of the API, where it has its own. */
  readonly apis: Program[] = [];
  readonly workers: Program[] = [];
  account!: Account;
  /** Its own PostgreSQL: of a deployed fleet. */
  database!: DeployedPostgres;

  private constructor(
    readonly client: TestApi,
    private readonly env: Settings,
    private readonly folder: string,
  ) {}

  static async start(settings: Settings = {}): Promise<Fleet> {
    const client = await new TestApi().start({ ...QUICK, ...settings });
    const fleet = new Fleet(client, client.environment, await newFolder());
    fleet.account = await client.signUp();
    return fleet;
  }

  /** The same with APIs in processes of their own, as the built program runs them. */
  static async startProcesses(settings: Settings = {}, apis = 1): Promise<Fleet> {
    const client = await new TestApi().open();
    const fleet = new Fleet(client, { ...client.environment, ...QUICK, ...settings }, await newFolder());
    return fleet.startApis(apis);
  }

  /** The same for load: little is logged. */
  static startForLoad(settings: Settings = {}, apis = 1): Promise<Fleet> {
    return Fleet.startProcesses({ ...FOR_LOAD, ...settings }, apis);
  }

  /**
   * The same with a PostgreSQL of its own, which can be killed.
   * @param postgres settings of PostgreSQL
   * @param link through which its processes connect to PostgreSQL
   */
  static async deploy(settings: Settings = {}, postgres: Settings = {}, link?: Link): Promise<Fleet> {
    const folder = await newFolder();
    const database = await DeployedPostgres.start(join(folder, 'postgres'), postgres);
    await migrateSchema(database.url);
    const url = (await link?.open(database.url)) ?? database.url;
    const env = { ...SETTINGS, ...QUICK, ...FOR_LOAD, ...settings, DATABASE_URL: url };
    const fleet = new Fleet(TestApi.at('', database.url), env, folder);
    fleet.database = database;
    return fleet.startApis(1);
  }

  private async startApis(count: number): Promise<this> {
    for (let n = 0; n < count; n++) {
      const port = { PORT: String(await freePort()) };
      this.apis.push(this.start('dist/apps/api/main.js', port));
    }
    await Promise.all(this.apis.map((api) => api.ready()));
    this.client.url = this.api.url;
    this.account = await this.client.signUp();
    return this;
  }

  get api(): Program {
    const [api] = this.apis;
    if (api === undefined) throw new Error('The API has no process of its own.');
    return api;
  }

  /** A worker that does what messages contain (see worker-process.mjs); resolves when it consumes. */
  async worker(settings: Settings = {}, script?: string): Promise<Program> {
    const program = this.startWorker(settings, script);
    await program.ready();
    return program;
  }

  startWorker(settings: Settings = {}, script = 'test/support/worker-process.mjs'): Program {
    const program = this.start(script, settings);
    this.workers.push(program);
    return program;
  }

  /** Any program, with the settings of this fleet. */
  start(script: string, settings: Settings = {}, interpreter?: string): Program {
    const files = { HANDLED: this.file('handled'), CLOCK_FILE: this.file(`clock-${this.programs.length}`) };
    const program = Program.run(script, { ...this.env, ...files, ...settings }, interpreter);
    this.programs.push(program);
    return program;
  }

  /** The path of a file that is removed with the fleet. */
  file(name: string): string {
    return join(this.folder, name);
  }

  /** Sends a message; resolves to its id. */
  async send(message: string, headers: Settings = {}): Promise<string> {
    return (await this.client.sent(this.account, { message, headers })).id;
  }

  async message(id: string): Promise<StoredMessage> {
    return (await this.client.ask(this.account, `GET /messages/${id}`)).body as unknown as StoredMessage;
  }

  /** A condition to wait for. */
  has(id: string, status: string): () => Promise<boolean> {
    return async () => (await this.message(id)).status === status;
  }

  /** Every call of a handler, in their order. */
  handled(): Call[] {
    const file = this.file('handled');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => {
      const [id = '', attempt = '', ...message] = line.split(' ');
      return { id, attempt: Number(attempt), message: message.join(' ') };
    });
  }

  /** Whether a handler has begun this attempt. */
  began(id: string, attempt: number): boolean {
    return this.handled().some((call) => call.id === id && call.attempt === attempt);
  }

  async traceparent(id: string): Promise<string | null | undefined> {
    const text = 'SELECT traceparent FROM sluice.messages WHERE id = $1';
    return (await this.sql<{ traceparent: string | null }>(text, [id]))[0]?.traceparent;
  }

  sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return this.client.sql<Row>(text, values);
  }

  /** How many messages are open that nothing will deliver, as `npm run census` counts them. */
  census(): Promise<number> {
    const database = { query: this.sql.bind(this) };
    const onlyCounts = () => Promise.reject(new Error('The census changes nothing.'));
    const queue = {
      inspect: (jobIds: readonly string[]) => inspect(database, 'messages', jobIds),
      ...{ endsOf: onlyCounts, removeDead: onlyCounts },
    };
    return new PostgresStrayMessages(database, queue).count();
  }

  /** Stores messages on a disk that can be filled. */
  async smallDisk(): Promise<SmallDisk> {
    return (this.disk = await smallDisk(this));
  }

  /** Starts 32 clients. Resolves when some of their messages are acknowledged. */
  async load({ perSecond = process.env.FAULT_ROUNDS === undefined ? 40 : 200 } = {}): Promise<Verification> {
    const urls = this.apis.map(({ url }) => url);
    this.callers = startClients(urls, this.account.key, this.file(`ledger-${randomUUID()}`), perSecond);
    await this.going();
    return this.callers;
  }

  /** The clients that `load` has started. */
  private get loading(): Verification {
    if (this.callers === null) throw new Error('There is no load.');
    return this.callers;
  }

  /** Resolves when so many more messages of the load are acknowledged. */
  async going(more = 50): Promise<void> {
    const wanted = this.loading.acknowledged + more;
    await until(
      () => this.loading.acknowledged >= wanted,
      90_000,
      () => this.state(),
    );
  }

  /** Resolves when a message is accepted, to how many milliseconds that took. */
  async accepting(): Promise<number> {
    const since = performance.now();
    const accepted = async () => {
      try {
        const { status } = await this.client.send(this.account);
        return status === 202;
      } catch {
        return false;
      }
    };
    await until(accepted, 90_000, () => this.state());
    return Math.round(performance.now() - since);
  }

  /**
   * Kills programs at once, and the database, and starts them again. Resolves when the load goes on, to how many
   * milliseconds it took until a message was accepted.
   */
  async killAndRestart(programs: readonly Program[], { database = false } = {}): Promise<number> {
    await Promise.all(programs.map((program) => program.kill()));
    if (database) await this.database.kill();
    if (database) await this.database.restart();
    await Promise.all(programs.map((program) => program.restart()));
    const ms = await this.accepting();
    await this.going();
    return ms;
  }

  /** Stops the load. @returns what breaks a guarantee: responses, what is stored, and processes that ended by themselves */
  async violations(): Promise<string[]> {
    await this.loading.stop(60_000);
    const report = await this.loading.compare(120_000);
    process.stdout.write(`${formatReport(report)}\n`);
    const strays = await this.census();
    return [
      ...notKept(report),
      ...[...this.apis, ...this.workers].flatMap((program) => program.deaths),
      ...(strays === 0 ? [] : [`${strays} messages are open and nothing will deliver them`]),
    ];
  }

  async stop(): Promise<void> {
    await Promise.all(this.programs.map((program) => program.kill()));
    await this.callers?.stop(0);
    await this.client.stop();
    await (this.database as DeployedPostgres | undefined)?.stop();
    this.disk?.remove();
    await rm(this.folder, { recursive: true });
  }

  private state(): string {
    const outputs = this.programs.map((program) => program.output.slice(-2_000));
    return [`${this.loading.acknowledged} acknowledged`, ...outputs].join('\n');
  }
}

/** Starts 32 clients, which record each response in a ledger. */
export function startClients(urls: string[], apiKey: string, ledgerFile: string, perSecond: number): Verification {
  const ledger = Ledger.create(ledgerFile, new Date());
  const clients = new Verification({ urls, apiKey, callers: 32, ledger, maxMessages: 1_000_000, perSecond });
  clients.start();
  return clients;
}

/** PostgreSQL may read it, too. */
async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-fleet-'));
  await chmod(folder, 0o755);
  return folder;
}
