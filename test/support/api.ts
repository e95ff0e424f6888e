import pg from 'pg';
import { createLogger } from '#platform/logging.js';
import { readSettings } from '#platform/settings.js';
import { startApi, type Api } from '../../apps/api/api.js';
import { createTestDatabase } from './database.js';
import { call, jsonOf, type Answer, type Call } from './http.js';

export interface TestAccount {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
}

export interface MessageJson {
  readonly id: string;
  readonly message: string;
  readonly status: string;
  readonly createdAt: string;
}

/** A request to send a message; what isn't given is valid. */
export interface Sending {
  readonly message?: string;
  /** The whole body, instead of one made from `message`. */
  readonly body?: string | Buffer;
  readonly headers?: Call['headers'];
}

type Environment = Readonly<Record<string, string>>;

/** The HTTP process on a database of its own, and a way to ask both. */
export class TestApi {
  private constructor(
    private readonly api: Api,
    readonly databaseUrl: string,
    private readonly pool: pg.Pool,
    private readonly drop: () => Promise<void>,
  ) {}

  static async start(environment: Environment, through: (url: string) => Promise<string>): Promise<TestApi> {
    const database = await createTestDatabase();
    try {
      const settings = readSettings({
        DATABASE_URL: await through(database.url),
        DATABASE_POOL_SIZE: '5',
        HOST: '127.0.0.1',
        PORT: '0',
        API_KEY_PEPPER: 'a pepper of 32 characters or more',
        LOG_LEVEL: 'silent',
        ...environment,
      });
      const api = await startApi(settings, createLogger(settings.logLevel, 'api'));
      const pool = new pg.Pool({ connectionString: database.url, max: 3 });
      pool.on('error', () => undefined);
      return new TestApi(api, database.url, pool, () => database.drop());
    } catch (error) {
      await database.drop();
      throw error;
    }
  }

  get url(): string {
    return this.api.url;
  }

  call(request: Call): Promise<Answer> {
    return call(this.url, request);
  }

  /** A request with an account's key. */
  as({ key }: TestAccount, { headers, ...request }: Call): Promise<Answer> {
    return this.call({ ...request, headers: { authorization: `Bearer ${key}`, ...headers } });
  }

  async signUp(name = 'Test'): Promise<TestAccount> {
    const answer = await this.call({
      method: 'POST',
      path: '/accounts',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    if (answer.status !== 201) throw new Error(`Sign-up was answered ${answer.status}: ${answer.bytes.toString()}`);
    const { id, apiKey } = jsonOf(answer) as unknown as { id: string; apiKey: { id: string; key: string } };
    return { id, keyId: apiKey.id, key: apiKey.key };
  }

  /** `POST /messages`. */
  send(account: TestAccount, { message = 'hello', body, headers }: Sending = {}): Promise<Answer> {
    return this.as(account, {
      method: 'POST',
      path: '/messages',
      headers: { 'content-type': 'application/json', ...headers },
      body: body ?? JSON.stringify({ message }),
    });
  }

  /** Sends a message that is sure to be accepted. */
  async sent(account: TestAccount, sending: Sending = {}): Promise<MessageJson> {
    const answer = await this.send(account, sending);
    if (answer.status !== 202) throw new Error(`Sending was answered ${answer.status}: ${answer.bytes.toString()}`);
    return jsonOf(answer) as unknown as MessageJson;
  }

  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /** What is stored of an account's sending: messages, idempotency keys. */
  async stored({ id }: TestAccount): Promise<{ messages: number; keys: number }> {
    const [row] = await this.sql<{ messages: number; keys: number }>(
      `SELECT (SELECT count(*)::int FROM sluice.messages WHERE account_id = $1) AS messages,
              (SELECT count(*)::int FROM sluice.idempotency_keys WHERE account_id = $1) AS keys`,
      [id],
    );
    return row ?? { messages: NaN, keys: NaN };
  }

  /** A connection to the database for a transaction that stays open. */
  connect(): Promise<pg.PoolClient> {
    return this.pool.connect();
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.pool.end();
    await this.drop();
  }
}

/**
 * @param environment settings that differ from the tests' own
 * @param through makes the URL under which the API reaches its database, for tests that cut it off
 */
export function startTestApi(
  environment: Environment = {},
  through: (url: string) => Promise<string> = (url) => Promise.resolve(url),
): Promise<TestApi> {
  return TestApi.start(environment, through);
}
