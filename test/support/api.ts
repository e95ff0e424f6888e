import pg from 'pg';
import { createLogger } from '#platform/logging.js';
import { readSettings } from '#platform/settings.js';
import { startApi, type Api } from '../../apps/api/api.js';
import { AMPLE, createTestDatabase, LIFT_LIMITS } from './database.js';
import { call, jsonOf, type Answer, type Call } from './http.js';
import { until } from './processes.js';

export interface TestAccount {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
}

export interface SentMessage {
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

/** A request to send several messages; what isn't given is valid. */
export interface BatchSending extends Omit<Sending, 'message'> {
  readonly messages?: readonly string[];
}

type Environment = Readonly<Record<string, string>>;

/**
 * Starts the HTTP process on a database of its own.
 * @param environment settings that differ from the tests' own
 * @param through makes the URL under which the API reaches its database, for tests that cut it off
 */
export async function startTestApi(
  environment: Environment = {},
  through: (url: string) => Promise<string> = (url) => Promise.resolve(url),
): Promise<TestApi> {
  const database = await createTestDatabase();
  try {
    const env = {
      DATABASE_URL: await through(database.url),
      DATABASE_POOL_SIZE: '5',
      HOST: '127.0.0.1',
      PORT: '0',
      MANAGEMENT_PORT: '0',
      API_KEY_PEPPER: 'a pepper of 32 characters or more',
      LOG_LEVEL: 'silent',
      ...AMPLE,
      ...environment,
    };
    const settings = readSettings(env);
    const api = await startApi(settings, createLogger(settings.logLevel, 'api'));
    return new TestApi(api, env, database.url, () => database.drop());
  } catch (error) {
    await database.drop();
    throw error;
  }
}

/** A running API, and a way to ask it and its database. */
export class TestApi {
  private readonly pool: pg.Pool;

  constructor(
    private readonly api: Api,
    /** The settings that it runs with, for another process on the same database. */
    readonly environment: Environment,
    databaseUrl: string,
    private readonly dropDatabase: () => Promise<void>,
  ) {
    this.pool = new pg.Pool({ connectionString: databaseUrl, max: 3 });
    this.pool.on('error', () => undefined);
  }

  get url(): string {
    return this.api.url;
  }

  get managementUrl(): string {
    return this.api.managementUrl;
  }

  call(request: Call): Promise<Answer> {
    return call(this.url, request);
  }

  /** A request with an account's key. */
  as({ key }: TestAccount, { headers, ...request }: Call): Promise<Answer> {
    return this.call({ ...request, headers: { authorization: `Bearer ${key}`, ...headers } });
  }

  /** `POST /accounts`. */
  requestAccount(body: string): Promise<Answer> {
    return this.call({ method: 'POST', path: '/accounts', headers: { 'content-type': 'application/json' }, body });
  }

  /** An account that meets no limits. */
  async signUp(): Promise<TestAccount> {
    const answer = await this.requestAccount('{"name":"Test"}');
    mustBe(201, answer);
    await this.sql(LIFT_LIMITS);
    const { id, apiKey } = jsonOf(answer) as { id: string; apiKey: { id: string; key: string } };
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

  /** `POST /messages/batch`. */
  sendBatch(account: TestAccount, { messages = ['hello'], body, headers }: BatchSending = {}): Promise<Answer> {
    return this.as(account, {
      method: 'POST',
      path: '/messages/batch',
      headers: { 'content-type': 'application/json', ...headers },
      body: body ?? JSON.stringify({ messages: messages.map((message) => ({ message })) }),
    });
  }

  /** Sends a message that is sure to be accepted. */
  async sent(account: TestAccount, sending: Sending = {}): Promise<SentMessage> {
    const answer = await this.send(account, sending);
    mustBe(202, answer);
    return jsonOf(answer) as unknown as SentMessage;
  }

  /** Puts a message into a status as if a worker had. */
  async become(id: string, status: string): Promise<void> {
    await this.sql(
      `UPDATE sluice.messages
       SET status = $2, updated_at = clock_timestamp(), attempts = 1, failure_reason = $3,
           claim = CASE $2 WHEN 'processing' THEN gen_random_uuid() END,
           claim_expires_at = CASE $2 WHEN 'processing' THEN now() + interval '1 minute' END
       WHERE id = $1`,
      [id, status, status === 'failed' ? 'the handler said no' : null],
    );
  }

  /** How many messages and idempotency keys an account has stored. */
  async stored({ id }: TestAccount): Promise<{ messages: number; keys: number } | undefined> {
    const [counts] = await this.sql<{ messages: number; keys: number }>(
      `SELECT (SELECT count(*)::int FROM sluice.messages WHERE account_id = $1) AS messages,
              (SELECT count(*)::int FROM sluice.idempotency_keys WHERE account_id = $1) AS keys`,
      [id],
    );
    return counts;
  }

  /** Whether a message's job is in the queue, or on its way there; `jobId` is that of its n-th retry, if any. */
  async isQueued(id: string, jobId = id): Promise<boolean> {
    // One statement, so that an entry that becomes a job meanwhile is seen as one of both.
    const [row] = await this.sql<{ queued: boolean }>(
      `SELECT EXISTS (SELECT FROM sluice.outbox WHERE $1 = ANY (message_ids))
           OR EXISTS (SELECT FROM bullmq.job WHERE id = $2) AS queued`,
      [id, jobId],
    );
    return row?.queued ?? false;
  }

  /** Resolves when a message's job is in the queue and its outbox entry gone. */
  async relayed(id: string, jobId = id): Promise<void> {
    await until(async () => {
      const [row] = await this.sql<{ relayed: boolean }>(
        `SELECT NOT EXISTS (SELECT FROM sluice.outbox WHERE $1 = ANY (message_ids))
            AND EXISTS (SELECT FROM bullmq.job WHERE id = $2) AS relayed`,
        [id, jobId],
      );
      return row?.relayed ?? false;
    }, 15_000);
  }

  /** Resolves when this many of the API's statements wait for a lock that the test holds. */
  async waiting(count: number): Promise<void> {
    await until(async () => {
      const waiting = await this.sql(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length >= count;
    }, 15_000);
  }

  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /** Does something while a transaction with this statement is open; it is rolled back afterwards. */
  async during<T>(statement: string, values: unknown[], work: () => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(statement, values);
      return await work();
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.pool.end();
    await this.dropDatabase();
  }
}

/** Fails unless the answer is the problem document of this code, whole and in its form; returns the document. */
export function expectProblem(answer: Answer, status: number, code: string): Record<string, unknown> {
  const problem = jsonOf(answer);
  expect({ status: answer.status, code: problem.code }).toEqual({ status, code });
  expect(answer.headers).toMatchObject({
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': problem.requestId,
  });
  expect(problem).toEqual({
    type: `/errors/${code}`,
    title: expect.stringMatching(/^[A-Z].*[^.]$/) as string,
    status,
    detail: expect.stringMatching(/^\S.*\.$/) as string,
    code,
    requestId: expect.stringMatching(/^[A-Za-z0-9._-]{1,128}$/) as string,
    ...(status === 400 ? { errors: expect.any(Array) as unknown[] } : {}),
  });
  return problem;
}

function mustBe(status: number, answer: Answer): void {
  if (answer.status !== status) throw new Error(`It was answered ${answer.status}: ${answer.bytes.toString()}`);
}
