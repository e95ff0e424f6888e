import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { EmbeddedPostgres } from '../../apps/dev/embedded-postgres/embedded-postgres.js';
import { migrateSchema } from '../../apps/schema.js';
import type { Load } from '../load/request.js';
import { runLoad, type LoadResult, type Watched } from '../load/run-load.js';
import { openQueue } from '../baselines/ordinary/queue.js';
import type { Program } from './program.js';
import { BenchRedis } from './redis.js';

const TEMPLATE = 'migrated';

/** A target that runs in a benchmark environment. */
interface Startable<Started extends Stoppable> {
  start(bench: BenchEnvironment): Promise<Started>;
}

interface Stoppable {
  stop(): Promise<void>;
}

/** The servers under test: one PostgreSQL with the settings of `npm start` (fsync on) and one Redis. */
export class BenchEnvironment {
  private created = 0;
  private readonly shared = new Map<Startable<Stoppable>, Stoppable>();
  private removing: Promise<void> | undefined;

  private constructor(
    private readonly folder: string,
    private readonly postgres: EmbeddedPostgres,
    private readonly admin: pg.Pool,
    readonly postgresVersion: string,
    readonly redis: BenchRedis | null,
    private readonly reuse: boolean,
  ) {}

  /** @param reuse whether targets keep running and are reused: fast, for smoke runs only */
  static async make(reuse: boolean): Promise<BenchEnvironment> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    // Started by root, PostgreSQL runs as another user that needs access to its data.
    await chmod(folder, 0o755);
    const postgres = await EmbeddedPostgres.start({
      ...{ dataDir: join(folder, 'postgres'), database: TEMPLATE },
      // For the pools of many processes.
      settings: { max_connections: '600' },
    });
    await migrateSchema(postgres.url);
    const admin = pool(urlOf(postgres.url, 'postgres'), 1);
    const { rows } = await admin.query<{ server_version: string }>('SHOW server_version');
    return new BenchEnvironment(
      folder,
      postgres,
      admin,
      rows[0]?.server_version ?? '',
      await BenchRedis.start(folder),
      reuse,
    );
  }

  /** Starts a target for one load, so that no load pays for the data or the work of an earlier one. */
  async start<Started extends Stoppable>(what: Startable<Started>): Promise<Started> {
    if (!this.reuse) return what.start(this);
    const running = (this.shared.get(what) as Started | undefined) ?? (await what.start(this));
    this.shared.set(what, running);
    return { ...running, stop: () => Promise.resolve() };
  }

  /** Starts a target, runs a function with it, and stops it. */
  async use<Started extends Stoppable, T>(
    what: Startable<Started>,
    work: (running: Started) => Promise<T>,
  ): Promise<T> {
    const running = await this.start(what);
    try {
      return await work(running);
    } finally {
      await running.stop();
    }
  }

  /** Sends a load to a target from generator processes. */
  load(
    { server, watched }: { readonly server: Program; readonly watched: Watched },
    load: Load,
    generators: number,
  ): Promise<LoadResult> {
    return runLoad(load, server, watched, generators, this.log('generator'));
  }

  /** The servers that a database uses, by name. */
  servers({ redisUrl }: BenchDatabase): Watched {
    return { PostgreSQL: this.postgresPid, ...(redisUrl !== null && this.redis && { Redis: this.redis.pid }) };
  }

  get postgresPid(): number {
    return this.postgres.pid;
  }

  /** The log file of a program. */
  log(name: string): string {
    return join(this.folder, `${name}.log`);
  }

  /**
   * Creates a database.
   * @param redisUrl of the Redis that has its queue; null if it has it itself
   * @param from `migrated` has Sluice's schema and no rows; `template0` is empty
   */
  async database(redisUrl: string | null = null, from: 'migrated' | 'template0' = TEMPLATE): Promise<BenchDatabase> {
    const name = `bench_${++this.created}`;
    await this.admin.query(`CREATE DATABASE ${name} TEMPLATE ${from}`);
    // Pending writes of the previous database must not disturb this measurement.
    await this.admin.query('CHECKPOINT');
    return new BenchDatabase(urlOf(this.postgres.url, name), redisUrl, () =>
      this.admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
    );
  }

  /** Safe to call again: a signal may arrive while the environment is being removed. */
  remove(): Promise<void> {
    return (this.removing ??= this.clear());
  }

  private async clear(): Promise<void> {
    await Promise.all([...this.shared.values()].map((running) => running.stop()));
    await this.admin.end();
    await this.postgres.stop();
    await this.redis?.stop();
    await rm(this.folder, { recursive: true });
  }
}

/** A database and a pool to query it. */
export class BenchDatabase {
  private readonly pool: pg.Pool;

  constructor(
    readonly url: string,
    readonly redisUrl: string | null,
    private readonly dropDatabase: () => Promise<unknown>,
  ) {
    this.pool = pool(url, 2);
  }

  async rows<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, [...values])).rows;
  }

  /** Jobs in Sluice's queue. */
  async jobs(): Promise<number> {
    if (this.redisUrl === null) return this.number('SELECT count(*) FROM bullmq.job');
    const queue = await openQueue(this.redisUrl, this.url);
    const counts = await queue.getJobCounts();
    await queue.close();
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  /** Runs a query that returns a single number. */
  async number(text: string, values: readonly unknown[] = []): Promise<number> {
    const [row = {}] = await this.rows(text, values);
    return Number(Object.values(row)[0]);
  }

  async drop(): Promise<void> {
    await this.pool.end();
    await this.dropDatabase();
  }
}

/** Dropping a database breaks its idle connections; a failing query still rejects. */
function pool(url: string, max: number): pg.Pool {
  const created = new pg.Pool({ connectionString: url, max, application_name: 'bench' });
  created.on('error', () => undefined);
  created.on('connect', (client) => client.on('error', () => undefined));
  return created;
}

function urlOf(server: string, database: string): string {
  return server.replace(/[^/]+$/, database);
}
