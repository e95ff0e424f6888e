import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startApi, type Api } from '../../apps/api/api.js';
import { startTools } from '../../apps/context.js';
import { MessagesModule, StrayMessages } from '#messages/messages.module.js';
import { createLogger } from '#platform/logging.js';
import { readSettings } from '#platform/settings.js';
import { AMPLE, createTestDatabase, LIFT_LIMITS } from './database.js';
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

const SECRETS = { API_KEY_PEPPER: 'a pepper for tests, long enough to pass' };

/** An API in this process and workers in processes of their own, on a database of their own. */
export class Fleet {
  private readonly programs: Program[] = [];
  private readonly sqlPool: pg.Pool;

  private constructor(
    private readonly env: Record<string, string>,
    readonly api: Api,
    readonly apiKey: string,
    private readonly folder: string,
    private readonly drop: () => Promise<void>,
  ) {
    this.sqlPool = new pg.Pool({ connectionString: env.DATABASE_URL });
  }

  /** @param settings on top of defaults that make take-overs quick */
  static async start(settings: Record<string, string> = {}): Promise<Fleet> {
    const database = await createTestDatabase();
    const env = {
      ...SECRETS,
      ...AMPLE,
      ...{ DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'silent' },
      ...{ MANAGEMENT_PORT: '0' },
      ...{ WORKER_LOCK_MS: '1000', BACKOFF_MS: '50', RECONCILE_INTERVAL_MS: '500' },
      ...settings,
    };
    const api = await startApi(readSettings(env), createLogger('silent', 'api'));
    const key = await signUpAt(api);
    const fleet = new Fleet(env, api, key, await mkdtemp(join(tmpdir(), 'sluice-fleet-')), () => database.drop());
    await fleet.sql(LIFT_LIMITS);
    return fleet;
  }

  /** A worker that does what messages say (see worker-process.mjs); resolves when it consumes. */
  async worker(settings: Record<string, string> = {}): Promise<Program> {
    const program = this.startWorker(settings);
    await program.printed('consuming');
    return program;
  }

  startWorker(settings: Record<string, string> = {}): Program {
    return this.start('test/support/worker-process.mjs', settings);
  }

  /** Any program, with the settings of this fleet. */
  start(script: string, settings: Record<string, string> = {}, interpreter?: string): Program {
    const env = { ...this.env, HANDLED: join(this.folder, 'handled'), LOG_LEVEL: 'warn', ...settings };
    const program = Program.run(script, env, interpreter);
    this.programs.push(program);
    return program;
  }

  /** Another account without limits; resolves to its key. */
  async signUp(): Promise<string> {
    const key = await signUpAt(this.api);
    await this.sql(LIFT_LIMITS);
    return key;
  }

  async send(message: string, deliverAt?: Date, apiKey = this.apiKey): Promise<string> {
    const response = await fetch(`${this.api.url}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message, deliverAt }),
    });
    if (response.status !== 202) throw new Error(`answered ${response.status}`);
    return ((await response.json()) as { id: string }).id;
  }

  async message(id: string): Promise<StoredMessage> {
    const headers = { authorization: `Bearer ${this.apiKey}` };
    return (await (await fetch(`${this.api.url}/messages/${id}`, { headers })).json()) as StoredMessage;
  }

  /** Every call of a handler, in their order. */
  handled(): Call[] {
    let text = '';
    try {
      text = readFileSync(join(this.folder, 'handled'), 'utf8');
    } catch {
      // No handler was called yet.
    }
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const [id = '', attempt = '', ...message] = line.split(' ');
        return { id, attempt: Number(attempt), message: message.join(' ') };
      });
  }

  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.sqlPool.query<Row>(text, values)).rows;
  }

  /** A connection that a test may lock or leave open. */
  connection(): Promise<pg.PoolClient> {
    return this.sqlPool.connect();
  }

  async census(): Promise<number> {
    const logger = createLogger('silent', 'tools');
    const tools = await startTools(readSettings(this.env), logger, MessagesModule.forTools());
    try {
      return await tools.get(StrayMessages).count();
    } finally {
      await tools.close();
    }
  }

  async stop(): Promise<void> {
    for (const program of this.programs) program.signal('SIGKILL');
    await Promise.all(this.programs.map((program) => program.ended()));
    await this.api.stop();
    await this.sqlPool.end();
    await this.drop();
    await rm(this.folder, { recursive: true });
  }
}

async function signUpAt({ url }: Api): Promise<string> {
  const response = await fetch(`${url}/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"tests"}',
  });
  return ((await response.json()) as { apiKey: { key: string } }).apiKey.key;
}
