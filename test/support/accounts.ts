import pg from 'pg';
import { createLogger, type Logger } from '#platform/logging.js';
import { readSettings } from '#platform/settings.js';
import { startApi, type Api } from '../../apps/api/api.js';
import { AMPLE, createTestDatabase } from './database.js';
import { call, jsonOf, type Answer, type Call } from './http.js';

export const OPERATORS_KEY = 'operators-key-of-32-characters-or-more';

export interface SignedUp {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
}

/** An API key as it is shown once. */
export interface NewKey {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly nextCursor: string | null;
}

type Environment = Readonly<Record<string, string>>;
type Body = object | string;

/** An API process, asked with one key or another. */
export class Process {
  constructor(private readonly api: Api) {}

  get url(): string {
    return this.api.url;
  }

  get managementUrl(): string {
    return this.api.managementUrl;
  }

  call(request: Call): Promise<Answer> {
    return call(this.url, request);
  }

  /**
   * A request with a key.
   * @param route such as `GET /account`
   * @param body sent as JSON; a text as it is
   */
  ask(key: string, route: string, body?: Body): Promise<Answer> {
    const [method = '', path = ''] = route.split(' ');
    const headers = { authorization: `Bearer ${key}` };
    if (body === undefined) return this.call({ method, path, headers });
    return this.call({
      ...{ method, path, headers: { ...headers, 'content-type': 'application/json' } },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** Whether this process lets a key in, whatever its scopes. */
  async knows(key: string): Promise<boolean> {
    return (await this.ask(key, 'GET /account')).status !== 401;
  }

  /** An account, with other limits than those of the free plan if they are given. */
  async signUp(limits?: { perMinute: number; perDay: number }): Promise<SignedUp> {
    const headers = { 'content-type': 'application/json' };
    const answer = await this.call({ method: 'POST', path: '/accounts', headers, body: '{"name":"Test"}' });
    mustBe(201, answer);
    const { id, apiKey } = jsonOf(answer) as { id: string; apiKey: NewKey };
    if (limits !== undefined) {
      mustBe(200, await this.ask(OPERATORS_KEY, `PATCH /admin/accounts/${id}`, { plan: 'enterprise', limits }));
    }
    return { id, keyId: apiKey.id, key: apiKey.key };
  }

  /** A further key, made with this one. */
  async createKey(key: string, wish: object = {}): Promise<NewKey> {
    return newKey(await this.ask(key, 'POST /api-keys', { name: 'another', ...wish }));
  }

  stop(): Promise<void> {
    return this.api.stop();
  }
}

/** An API process on a database of its own, which further processes may join. */
export class Service extends Process {
  private readonly others: Process[] = [];
  private readonly pool: pg.Pool;

  private constructor(
    api: Api,
    private readonly environment: Environment,
    private readonly dropDatabase: () => Promise<void>,
  ) {
    super(api);
    this.pool = new pg.Pool({ connectionString: environment.DATABASE_URL, max: 2 });
    this.pool.on('error', () => undefined);
  }

  /** @param differing settings that differ from the tests' own, under which nobody runs into a limit by accident */
  static async start(differing: Environment = {}, logger?: Logger): Promise<Service> {
    const database = await createTestDatabase();
    const environment = {
      ...{
        DATABASE_URL: database.url,
        DATABASE_POOL_SIZE: '5',
        HOST: '127.0.0.1',
        PORT: '0',
        MANAGEMENT_PORT: '0',
        LOG_LEVEL: 'silent',
      },
      ...{ API_KEY_PEPPER: 'a pepper of 32 characters or more', ADMIN_API_KEY: OPERATORS_KEY },
      ...AMPLE,
      ...differing,
    };
    try {
      return new Service(await run(environment, logger), environment, () => database.drop());
    } catch (error) {
      await database.drop();
      throw error;
    }
  }

  /** Another process on the same database. */
  async join(differing: Environment = {}): Promise<Process> {
    const process = new Process(await run({ ...this.environment, ...differing }));
    this.others.push(process);
    return process;
  }

  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  override async stop(): Promise<void> {
    await Promise.all([super.stop(), ...this.others.map((process) => process.stop())]);
    await this.pool.end();
    await this.dropDatabase();
  }
}

/** The key of an answer that made one. */
export function newKey(answer: Answer): NewKey {
  mustBe(201, answer);
  return jsonOf(answer) as unknown as NewKey;
}

/** A list's page. */
export function pageOf(answer: Answer): Page<Record<string, unknown>> {
  mustBe(200, answer);
  return jsonOf(answer) as unknown as Page<Record<string, unknown>>;
}

/** All pages of a list, each of this size. */
export async function pagesOf(process: Process, key: string, path: string, limit: number) {
  const pages: (readonly Record<string, unknown>[])[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { data, nextCursor } = pageOf(await process.ask(key, `GET ${path}?limit=${limit}${from}`));
    pages.push(data);
    cursor = nextCursor;
  }
  return pages;
}

/** The statuses of answers, sorted. */
export function statusesOf(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status).sort((a, b) => a - b);
}

async function run(environment: Environment, logger?: Logger): Promise<Api> {
  const settings = readSettings(environment);
  return startApi(settings, logger ?? createLogger(settings.logLevel, 'api'));
}

function mustBe(status: number, answer: Answer): void {
  if (answer.status !== status) throw new Error(`It was answered ${answer.status}: ${answer.bytes.toString()}`);
}
