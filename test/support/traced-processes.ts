import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { AMPLE, createTestDatabase, type TestDatabase } from './database.js';
import { call, type Answer, type Call } from './http.js';
import { Program } from './processes.js';

/** A trace of its own for each test. */
export function aTrace(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

/** The API and workers, each a process of the built program, on a database of their own. */
export class TracedProcesses {
  private readonly programs: Program[] = [];
  private readonly pool: pg.Pool;
  api!: Program;
  url = '';
  apiKey = '';

  private constructor(
    private readonly database: TestDatabase,
    private readonly folder: string,
    private readonly env: Record<string, string>,
  ) {
    this.pool = new pg.Pool({ connectionString: database.url });
    this.pool.on('error', () => undefined);
  }

  /** Starts the API and opens an account. */
  static async start(settings: Record<string, string>): Promise<TracedProcesses> {
    const database = await createTestDatabase();
    const folder = await mkdtemp(join(tmpdir(), 'sluice-traced-'));
    const processes = new TracedProcesses(database, folder, {
      ...AMPLE,
      ...{ DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'info' },
      ...{ API_KEY_PEPPER: 'a pepper of 32 characters or more', HANDLED: join(folder, 'handled') },
      ...{ WORKER_LOCK_MS: '1000', BACKOFF_MS: '50', OTEL_BSP_SCHEDULE_DELAY: '50' },
      ...settings,
    });
    await processes.startApi();
    const answer = await processes.call({
      ...{ method: 'POST', path: '/accounts', body: '{"name":"Test"}' },
      headers: { 'content-type': 'application/json' },
    });
    processes.apiKey = (answer.body as { apiKey: { key: string } }).apiKey.key;
    return processes;
  }

  async startApi(): Promise<void> {
    this.api = this.run('dist/apps/api/main.js');
    await this.api.printed(/"url":"[^"]+"/);
    this.url = /"url":"([^"]+)"/.exec(this.api.output)?.[1] ?? '';
  }

  /** A worker that does what messages say (see worker-process.mjs), unless it is to be the program's own. */
  async worker(script = 'test/support/worker-process.mjs'): Promise<Program> {
    const worker = this.run(script);
    await worker.printed('consuming');
    return worker;
  }

  call(request: Call): Promise<Answer> {
    return call(this.url, request);
  }

  /** `POST /messages`; resolves to the id of the message. */
  async send(message: string, headers: Record<string, string> = {}): Promise<string> {
    const answer = await this.post(message, headers);
    if (answer.status !== 202) throw new Error(`It was answered ${answer.status}.`);
    return String(answer.body.id);
  }

  post(message: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.call({
      ...{ method: 'POST', path: '/messages', body: JSON.stringify({ message }) },
      headers: { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json', ...headers },
    });
  }

  /** Whether a handler has begun this attempt. */
  async began(id: string, attempt: number): Promise<boolean> {
    const text = await readFile(join(this.folder, 'handled'), 'utf8').catch(() => '');
    return text.includes(`${id} ${attempt} `);
  }

  async traceparent(id: string): Promise<string | null | undefined> {
    const [row] = await this.sql<{ traceparent: string | null }>(
      'SELECT traceparent FROM sluice.messages WHERE id = $1',
      [id],
    );
    return row?.traceparent;
  }

  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /** A connection that a test may lock with. */
  connection(): Promise<pg.PoolClient> {
    return this.pool.connect();
  }

  async stop(): Promise<void> {
    for (const program of this.programs) program.signal('SIGKILL');
    await Promise.all(this.programs.map((program) => program.ended()));
    await this.pool.end();
    await this.database.drop();
    await rm(this.folder, { recursive: true });
  }

  private run(script: string): Program {
    const program = Program.run(script, this.env);
    this.programs.push(program);
    return program;
  }
}
