import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { TestApi, type Account, type Settings } from './api.js';
import { Program } from './processes.js';

export interface StoredMessage {
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
  RECONCILE_INTERVAL_MS: '500',
  OTEL_BSP_SCHEDULE_DELAY: '50',
};

/** An API and workers, which are processes of their own, on a database of their own, with an account. */
export class Fleet {
  private readonly programs: Program[] = [];
  account!: Account;
  /** The process of the API, where it has one of its own. */
  api!: Program;

  private constructor(
    readonly client: TestApi,
    private readonly env: Settings,
    private readonly folder: string,
  ) {}

  static async start(settings: Settings = {}): Promise<Fleet> {
    const client = await new TestApi().start({ ...QUICK, ...settings });
    const fleet = await Fleet.of(client, { ...client.environment, ...settings });
    fleet.account = await client.signUp();
    return fleet;
  }

  /** The same with an API in a process of its own, as the built program runs it. */
  static async startProcesses(settings: Settings = {}): Promise<Fleet> {
    const client = await new TestApi().open();
    const fleet = await Fleet.of(client, { ...client.environment, ...QUICK, ...settings });
    fleet.api = fleet.start('dist/apps/api/main.js');
    await fleet.api.printed(/"url":"[^"]+"/);
    client.url = fleet.api.address('url');
    fleet.account = await client.signUp();
    return fleet;
  }

  private static async of(client: TestApi, env: Settings): Promise<Fleet> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-fleet-'));
    return new Fleet(client, { ...env, LOG_LEVEL: 'info', HANDLED: join(folder, 'handled') }, folder);
  }

  /** A worker that does what messages contain (see worker-process.mjs); resolves when it consumes. */
  async worker(settings: Settings = {}, script?: string): Promise<Program> {
    const program = this.startWorker(settings, script);
    await program.printed('consuming');
    return program;
  }

  startWorker(settings: Settings = {}, script = 'test/support/worker-process.mjs'): Program {
    return this.start(script, settings);
  }

  /** Any program, with the settings of this fleet. */
  start(script: string, settings: Settings = {}, interpreter?: string): Program {
    const program = Program.run(script, { ...this.env, ...settings }, interpreter);
    this.programs.push(program);
    return program;
  }

  /** Sends a message; resolves to its id. */
  async send(message: string, headers: Settings = {}): Promise<string> {
    return (await this.client.sent(this.account, { message, headers })).id;
  }

  async message(id: string): Promise<StoredMessage> {
    return (await this.client.ask(this.account, `GET /messages/${id}`)).body as unknown as StoredMessage;
  }

  /** Every call of a handler, in their order. */
  handled(): Call[] {
    const file = join(this.folder, 'handled');
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

  census(): Promise<number> {
    return census(this.env.DATABASE_URL ?? '');
  }

  async stop(): Promise<void> {
    for (const program of this.programs) program.signal('SIGKILL');
    await Promise.all(this.programs.map((program) => program.ended()));
    await this.client.stop();
    await rm(this.folder, { recursive: true });
  }
}

/** How many messages are open that nothing will deliver, as `npm run census` counts them. */
export async function census(databaseUrl: string): Promise<number> {
  const program = Program.run('dist/apps/cli/census.js', { DATABASE_URL: databaseUrl });
  await program.printed(/^\d+ /m);
  await program.ended();
  return Number.parseInt(program.output, 10);
}
