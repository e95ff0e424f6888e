import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { EmbeddedPostgres } from '../../apps/dev/embedded-postgres/index.js';
import { migrateSchema } from '../../apps/schema.js';
import { BenchRedis } from './redis.js';

const TEMPLATE = 'migrated';

/** What can run on a bed. */
interface Startable<Started extends Stoppable> {
  start(bed: Bed): Promise<Started>;
}

interface Stoppable {
  stop(): Promise<void>;
}

/** What everything under test runs on: one PostgreSQL with the settings of `npm start`, which syncs, and one Redis. */
export class Bed {
  private made = 0;
  private readonly kept = new Map<Startable<Stoppable>, Stoppable>();
  private removing: Promise<void> | undefined;

  private constructor(
    private readonly folder: string,
    private readonly postgres: EmbeddedPostgres,
    private readonly admin: pg.Pool,
    readonly postgresVersion: string,
    readonly redis: BenchRedis | null,
    private readonly keeps: boolean,
  ) {}

  /** @param keeps whether what was started runs on, for whoever starts it next: quick, and no way to measure */
  static async make(keeps: boolean): Promise<Bed> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    // As root, PostgreSQL runs as another user, who has to get at its data.
    await chmod(folder, 0o755);
    const postgres = await EmbeddedPostgres.start({ dataDir: join(folder, 'postgres'), database: TEMPLATE });
    await migrateSchema(postgres.url);
    const admin = pool(urlOf(postgres.url, 'postgres'), 1);
    const { rows } = await admin.query<{ server_version: string }>('SHOW server_version');
    return new Bed(folder, postgres, admin, rows[0]?.server_version ?? '', await BenchRedis.start(folder), keeps);
  }

  /** Something for one load, which neither has to pay for the one before nor for what that has stored. */
  async start<Started extends Stoppable>(what: Startable<Started>): Promise<Started> {
    if (!this.keeps) return what.start(this);
    const running = (this.kept.get(what) as Started | undefined) ?? (await what.start(this));
    this.kept.set(what, running);
    return { ...running, stop: () => Promise.resolve() };
  }

  get postgresPid(): number {
    return this.postgres.pid;
  }

  /** The file that takes the output of a program. */
  log(name: string): string {
    return join(this.folder, `${name}.log`);
  }

  /**
   * A database of its own.
   * @param from `migrated` has Sluice's schema and no rows, `template0` is empty
   */
  async database(from: 'migrated' | 'template0' = TEMPLATE): Promise<Store> {
    const name = `bench_${++this.made}`;
    await this.admin.query(`CREATE DATABASE ${name} TEMPLATE ${from}`);
    // What the last one left to be written is not to be written while this one is measured.
    await this.admin.query('CHECKPOINT');
    return new Store(urlOf(this.postgres.url, name), () =>
      this.admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
    );
  }

  /** Whoever is told to leave may come while it is being removed. */
  remove(): Promise<void> {
    return (this.removing ??= this.clear());
  }

  private async clear(): Promise<void> {
    await Promise.all([...this.kept.values()].map((running) => running.stop()));
    await this.admin.end();
    await this.postgres.stop();
    await this.redis?.stop();
    await rm(this.folder, { recursive: true });
  }
}

/** A database, and a way to ask it. */
export class Store {
  private readonly pool: pg.Pool;

  constructor(
    readonly url: string,
    private readonly dropDatabase: () => Promise<unknown>,
  ) {
    this.pool = pool(url, 2);
  }

  async rows<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, [...values])).rows;
  }

  /** The one number that a statement answers. */
  async number(text: string, values: readonly unknown[] = []): Promise<number> {
    const [row = {}] = await this.rows(text, values);
    return Number(Object.values(row)[0]);
  }

  async drop(): Promise<void> {
    await this.pool.end();
    await this.dropDatabase();
  }
}

/** Connections are cut off when their database is dropped, also those that are just closing. A statement that fails says so. */
function pool(url: string, max: number): pg.Pool {
  const made = new pg.Pool({ connectionString: url, max, application_name: 'bench' });
  made.on('error', () => undefined);
  made.on('connect', (client) => client.on('error', () => undefined));
  return made;
}

function urlOf(server: string, database: string): string {
  return server.replace(/[^/]+$/, database);
}
