import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateSchema } from '../../apps/schema.js';
import { Ledger } from '../../apps/cli/verify/ledger.js';
import { formatReport } from '../../apps/cli/verify/report.js';
import { Verification } from '../../apps/cli/verify/verification.js';
import { SETTINGS, TestApi } from './api.js';
import { Link } from './link.js';
import { census } from './fleet.js';
import { DeployedPostgres } from './deployed-postgres.js';
import { freePort, Program, ROOT, until } from './processes.js';
import { smallDisk, type SmallDisk } from './small-disk.js';

export interface DeploymentOptions {
  readonly apis?: number;
  readonly workers?: number;
  /** Settings that differ from those of all fault tests. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Settings of PostgreSQL. */
  readonly postgres?: Readonly<Record<string, string>>;
  /** Whether the processes' clocks can be set. */
  readonly clocks?: boolean;
}

/** An installation for fault tests: its own PostgreSQL behind a link, and API and worker processes that must not exit. */
export class Deployment {
  readonly apis: Role[] = [];
  readonly workers: Role[] = [];
  private verifying: Verification | null = null;
  private disk: SmallDisk | null = null;
  private keyOf = '';

  private constructor(
    readonly database: DeployedPostgres,
    readonly link: Link,
    private readonly folder: string,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async start({ apis = 1, workers = 1, settings = {}, postgres = {}, clocks }: DeploymentOptions = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-deployment-'));
    await chmod(folder, 0o755);
    const database = await DeployedPostgres.start(join(folder, 'postgres'), postgres);
    const link = new Link();
    const env = {
      ...{ ...SETTINGS, DATABASE_URL: await link.open(database.url), LOG_LEVEL: 'warn' },
      ...{ WORKER_LOCK_MS: '1000', BACKOFF_MS: '50', RECONCILE_INTERVAL_MS: '500', HANDLER_MS: '5' },
      ...{ HANDLED: join(folder, 'handled'), ...settings },
    };
    const deployment = new Deployment(database, link, folder, env);
    await migrateSchema(database.url);
    const clock = (name: string) =>
      clocks === true
        ? { NODE_OPTIONS: `--require ${join(ROOT, 'test/support/shifted-clock.cjs')}`, CLOCK_FILE: join(folder, name) }
        : {};
    for (let n = 0; n < apis; n++) {
      const port = { PORT: String(await freePort()) };
      deployment.apis.push(new Role('dist/apps/api/main.js', { ...env, ...port, ...clock(`api-${n}`) }));
    }
    for (let n = 0; n < workers; n++) {
      deployment.workers.push(new Role('test/support/worker-process.mjs', { ...env, ...clock(`worker-${n}`) }));
    }
    await Promise.all(deployment.roles.map((role) => role.start()));
    const client = TestApi.at(deployment.api.url, database.url);
    deployment.keyOf = (await client.signUp()).key;
    await client.stop();
    return deployment;
  }

  get roles(): Role[] {
    return [...this.apis, ...this.workers];
  }

  get api(): Role {
    return oneOf(this.apis);
  }

  get worker(): Role {
    return oneOf(this.workers);
  }

  get apiKey(): string {
    return this.keyOf;
  }

  /** The clients that `load` has started. */
  private get callers(): Verification {
    if (this.verifying === null) throw new Error('There is no load.');
    return this.verifying;
  }

  /** Stores messages on a disk that can be filled. */
  async smallDisk(): Promise<SmallDisk> {
    return (this.disk = await smallDisk(this.database, join(this.folder, 'postgres'), join(this.folder, 'small')));
  }

  /** Runs another program with the settings of the deployment, which does not stop it. */
  run(script: string): Program {
    return Program.run(script, this.env);
  }

  /** The path of a file that is removed with the deployment. */
  file(name: string): string {
    return join(this.folder, name);
  }

  /** Starts 32 clients. Resolves when some of their messages are acknowledged. */
  async load({ perSecond = 200 } = {}): Promise<Verification> {
    const urls = this.apis.map(({ url }) => url);
    this.verifying = startClients(urls, this.apiKey, this.file(`ledger-${randomUUID()}`), perSecond);
    await this.going();
    return this.verifying;
  }

  /** Resolves when so many more messages are acknowledged. */
  async going(more = 50): Promise<void> {
    const wanted = this.callers.acknowledged + more;
    await until(
      () => this.callers.acknowledged >= wanted,
      90_000,
      () => this.state(),
    );
  }

  /** Resolves when a message is accepted, to how many milliseconds that took from `since`, a `performance.now()`. */
  async accepting(since: number, api = this.api): Promise<number> {
    const accepted = async () => {
      try {
        const { status } = await this.send('hello', api);
        return status === 202;
      } catch {
        return false;
      }
    };
    await until(accepted, 90_000, () => this.state());
    return Math.round(performance.now() - since);
  }

  send(message: string, api = this.api, idempotencyKey?: string): Promise<Response> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return this.request('POST /messages', { message }, api, headers);
  }

  /** Sends a message that must be accepted; resolves to its id. */
  async sent(message: string): Promise<string> {
    const response = await this.send(message);
    if (response.status !== 202) throw new Error(`The status is ${response.status}.`);
    return ((await response.json()) as { id: string }).id;
  }

  /** A request of the account, such as `GET /account`. */
  request(
    route: string,
    body?: object,
    api = this.api,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const [method = '', path = ''] = route.split(' ');
    const json = body && { body: JSON.stringify(body) };
    return fetch(`${api.url}${path}`, {
      ...{ method, ...json, signal: AbortSignal.timeout(20_000) },
      headers: {
        ...{ authorization: `Bearer ${this.apiKey}`, ...(json && { 'content-type': 'application/json' }) },
        ...headers,
      },
    });
  }

  /** What is stored of a message. */
  async stored(id: string) {
    const [row] = await this.database.sql<{ status: string; attempts: number; failure_reason: string | null }>(
      'SELECT status, attempts, failure_reason FROM sluice.messages WHERE id = $1',
      [id],
    );
    return row;
  }

  /** Stops the clients. @returns what breaks a guarantee: their responses, what is stored, and how processes ended */
  async violations(): Promise<string[]> {
    await this.callers.stop(60_000);
    const report = await this.callers.compare(120_000);
    process.stdout.write(`${formatReport(report)}\n`);
    const violations = report.guarantees.flatMap((guarantee) => guarantee.violations);
    const strays = await census(this.database.url);
    for (const role of this.roles) role.inspect();
    return [
      ...violations,
      ...this.roles.flatMap((role) => role.deaths),
      ...(strays === 0 ? [] : [`${strays} messages are open and nothing will deliver them`]),
    ];
  }

  async stop(): Promise<void> {
    for (const role of this.roles) role.kill();
    await this.verifying?.stop(0);
    await this.link.cut();
    await this.database.stop();
    this.disk?.remove();
    await rm(this.folder, { recursive: true });
  }

  private state(): string {
    const outputs = this.roles.map((role) => role.output.slice(-2_000));
    return [`${this.callers.acknowledged} acknowledged`, ...outputs].join('\n');
  }
}

/** Starts 32 clients, which record each response in a ledger. */
export function startClients(urls: string[], apiKey: string, ledgerFile: string, perSecond: number): Verification {
  const ledger = Ledger.create(ledgerFile, new Date());
  const clients = new Verification({ urls, apiKey, callers: 32, ledger, maxMessages: 1_000_000, perSecond });
  clients.start();
  return clients;
}

function oneOf([role]: readonly Role[]): Role {
  if (role === undefined) throw new Error('There is none.');
  return role;
}

/** A process that can be killed and started again. */
export class Role {
  private program: Program | null = null;
  /** Exits that were not caused by the test. */
  readonly deaths: string[] = [];

  constructor(
    private readonly script: string,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.env.PORT ?? ''}`;
  }

  /** Sets its clock ahead by so many milliseconds, or behind. */
  setClock(byMs: number): void {
    writeFileSync(this.env.CLOCK_FILE ?? '', String(byMs));
  }

  get output(): string {
    return this.program?.output ?? '';
  }

  get pid(): number {
    return this.program?.pid ?? 0;
  }

  /** Resolves when it serves. */
  async start(): Promise<void> {
    const program = Program.run(this.script, this.env);
    this.program = program;
    await program.ready();
  }

  /** Kills it without warning. */
  kill(): void {
    this.inspect();
    this.program?.signal('SIGKILL');
    this.program = null;
  }

  /** Stops it as an orchestrator would; resolves to its exit code. */
  async end(): Promise<number | NodeJS.Signals | null> {
    this.inspect();
    const program = this.program;
    this.program = null;
    program?.signal('SIGTERM');
    return program?.ended() ?? null;
  }

  /** Records an exit that the test did not cause. */
  inspect(): void {
    if (this.program === null || this.program.running) return;
    this.deaths.push(`${this.script} ended unexpectedly: ${this.program.output.slice(-1_000)}`);
    this.program = null;
  }
}
