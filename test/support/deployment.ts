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

/**
 * A whole installation that may be broken in any way: a PostgreSQL of its own, which is reached by a link, and
 * processes of the API and of workers, each of which is expected to outlive whatever it was not killed by.
 */
export class Deployment {
  readonly link = new Link();
  readonly apis: Role[] = [];
  readonly workers: Role[] = [];
  private verifying: Verification | null = null;
  private disk: SmallDisk | null = null;
  private keyOf = '';

  private constructor(
    readonly database: DeployedPostgres,
    private readonly folder: string,
  ) {}

  static async start({ apis = 1, workers = 1, settings = {}, postgres = {}, clocks }: DeploymentOptions = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-deployment-'));
    await chmod(folder, 0o755);
    const database = await DeployedPostgres.start(join(folder, 'postgres'), postgres);
    const deployment = new Deployment(database, folder);
    const url = await deployment.link.open(database.url);
    const env = {
      ...{ ...SETTINGS, DATABASE_URL: url, LOG_LEVEL: 'warn' },
      ...{ WORKER_LOCK_MS: '1000', BACKOFF_MS: '50', RECONCILE_INTERVAL_MS: '500', HANDLER_MS: '5' },
      ...{ HANDLED: join(folder, 'handled'), ...settings },
    };
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

  get urls(): string[] {
    return this.apis.map(({ url }) => url);
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

  /** The callers, who have begun by then. */
  get callers(): Verification {
    if (this.verifying === null) throw new Error('Nobody calls.');
    return this.verifying;
  }

  /** A disk for the messages that can be made full. */
  async smallDisk(): Promise<SmallDisk> {
    return (this.disk = await smallDisk(this.database, join(this.folder, 'postgres'), join(this.folder, 'small')));
  }

  /** The path of a file that goes with the deployment. */
  file(name: string): string {
    return join(this.folder, name);
  }

  /** At least 32 callers begin, and have been acknowledged something when it resolves. */
  async load({ perSecond = 200 } = {}): Promise<Verification> {
    const ledger = Ledger.create(this.file(`ledger-${randomUUID()}`), new Date());
    this.verifying = new Verification({
      ...{ urls: this.urls, apiKey: this.apiKey, callers: 32, ledger, maxMessages: 1_000_000, perSecond },
    });
    this.verifying.start();
    await this.going();
    return this.verifying;
  }

  /** Resolves when callers have been acknowledged as many messages more. */
  async going(more = 50): Promise<void> {
    const wanted = this.callers.acknowledged + more;
    await until(
      () => this.callers.acknowledged >= wanted,
      90_000,
      () => this.told(),
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
    await until(accepted, 90_000, () => this.told());
    return Math.round(performance.now() - since);
  }

  send(message: string, api = this.api, idempotencyKey?: string): Promise<Response> {
    const repeatable = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return fetch(`${api.url}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json', ...repeatable },
      body: JSON.stringify({ message }),
      signal: AbortSignal.timeout(20_000),
    });
  }

  /** A batch of equal messages, which must be accepted. */
  async sendBatch(message: string, count: number): Promise<void> {
    const response = await fetch(`${this.api.url}/messages/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: Array.from({ length: count }, () => ({ message })) }),
    });
    if (response.status !== 202) throw new Error(`answered ${response.status}`);
  }

  /** Ends the callers and compares their ledger with what is stored; returns each violation as a sentence. */
  async violations(): Promise<string[]> {
    await this.callers.stop(60_000);
    const report = await this.callers.compare(120_000);
    process.stdout.write(`${formatReport(report)}\n`);
    const violations = report.guarantees.flatMap((guarantee) => guarantee.violations);
    return [...violations, ...this.died(), ...(await this.strays())];
  }

  census(): Promise<number> {
    return census(this.database.url);
  }

  async stop(): Promise<void> {
    for (const role of this.roles) role.kill();
    await this.verifying?.stop(0);
    await this.link.cut();
    await this.database.stop();
    this.disk?.remove();
    await rm(this.folder, { recursive: true });
  }

  private async strays(): Promise<string[]> {
    const count = await this.census();
    return count === 0 ? [] : [`${count} messages are open and nothing will ever deliver them`];
  }

  private died(): string[] {
    for (const role of this.roles) role.inspect();
    return this.roles.flatMap((role) => role.deaths);
  }

  private told(): string {
    return this.roles.map((role) => role.output.slice(-2_000)).join('\n');
  }
}

function oneOf([role]: readonly Role[]): Role {
  if (role === undefined) throw new Error('There is none.');
  return role;
}

/** A process that is there, is killed, and is started again. */
export class Role {
  private program: Program | null = null;
  /** How it ended when nobody had ended it. */
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
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const program = Program.run(this.script, { ...this.env, ...settings });
    this.program = program;
    await program.ready();
  }

  /** Ends it as a power cut would. */
  kill(): void {
    this.inspect();
    this.program?.signal('SIGKILL');
    this.program = null;
  }

  signal(name: NodeJS.Signals): void {
    this.program?.signal(name);
  }

  /** Ends it as an orchestrator would; resolves to its exit code. */
  async end(): Promise<number | NodeJS.Signals | null> {
    this.inspect();
    const program = this.program;
    this.program = null;
    program?.signal('SIGTERM');
    return program?.ended() ?? null;
  }

  /** Takes note of a death that nobody has caused. */
  inspect(): void {
    if (this.program === null || this.program.running) return;
    this.deaths.push(`${this.script} ended by itself: ${this.program.output.slice(-1_000)}`);
    this.program = null;
  }
}
