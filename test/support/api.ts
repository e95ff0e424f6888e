import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { Page } from '#client/index.js';
import type { Limits } from '#kernel/limits.js';
import { createTestDatabase } from './database.js';
import { shared, startHosted, type Settings } from './hosted-api.js';
import { call, inTime, type HttpResponse, type Call } from './http.js';
import type { Link } from './link.js';
import { until } from './processes.js';

export type { Settings };

export type Key = string | { readonly key: string };
type Body = object | string;
type Headers = Call['headers'];

/** An account with one of its keys. */
export interface Account {
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
  readonly body?: Body;
  readonly headers?: Headers;
}

/** A request to send several messages; what isn't given is valid. */
export interface BatchSending extends Omit<Sending, 'message'> {
  readonly messages?: readonly string[];
}

/** The settings of all APIs of tests, but for their database. */
export const { DATABASE_URL: SHARED_DATABASE_URL = '', ...SETTINGS } = shared.environment;
export const OPERATOR = { key: SETTINGS.ADMIN_API_KEY ?? '' };

/** Limits that no test exceeds. */
const AMPLE: Limits = { perMinute: 100_000_000, perDay: 100_000_000 };

/** A client of the API that the tests of this Jest worker share, for tests of what belongs to an account. */
export function sharedApi(): TestApi {
  const api = new TestApi();
  beforeAll(() => {
    api.share();
  });
  afterAll(() => api.stop());
  return api;
}

/**
 * An API with a database of its own.
 * @param settings the settings that differ from the defaults
 * @param link the way to its database
 */
export function ownApi(settings: Settings = {}, link?: Link): TestApi {
  const api = new TestApi();
  beforeAll(() => api.start(settings, link));
  afterAll(() => api.stop());
  return api;
}

/** A further API on the database of another one, which stops it. */
export function joinedApi(first: TestApi, settings: Settings = {}): TestApi {
  const api = new TestApi();
  beforeAll(() => first.join(settings, api));
  return api;
}

/** An account for all tests of a file; by default one without limits. */
export function accountOf(api: TestApi, limits?: Limits | 'free', before = beforeAll): Account {
  const account = { id: '', keyId: '', key: '' };
  before(async () => Object.assign(account, await api.signUp(limits)));
  return account;
}

/** An account for each test. */
export function accountForEach(api: TestApi, limits?: Limits | 'free'): Account {
  return accountOf(api, limits, beforeEach);
}

/** A client of an API, with access to its database. */
export class TestApi {
  url = '';
  managementUrl = '';
  environment: Settings = {};
  private pool!: pg.Pool;
  private readonly closing: (() => Promise<unknown>)[] = [];

  /** A client of an API that runs elsewhere. */
  static at(url: string, databaseUrl: string): TestApi {
    const api = Object.assign(new TestApi(), { url });
    api.connect(databaseUrl);
    return api;
  }

  share(): void {
    Object.assign(this, shared);
    this.connect(SHARED_DATABASE_URL);
  }

  async start(settings: Settings = {}, link?: Link): Promise<this> {
    await this.open(link);
    await this.run({ ...this.environment, ...settings });
    return this;
  }

  /** Creates a database, without an API on it. */
  async open(link?: Link): Promise<this> {
    const database = await createTestDatabase();
    this.closing.push(() => database.drop());
    if (link !== undefined) this.closing.push(() => link.cut());
    this.connect(database.url);
    this.environment = { ...SETTINGS, DATABASE_URL: (await link?.open(database.url)) ?? database.url };
    return this;
  }

  /** Starts a further API on the same database, which stops with this one. */
  async join(settings: Settings = {}, other = new TestApi()): Promise<TestApi> {
    other.connect(this.environment.DATABASE_URL ?? '');
    this.closing.push(() => other.stop());
    await other.run({ ...this.environment, ...settings });
    return other;
  }

  async stop(): Promise<void> {
    for (const close of this.closing.splice(0).reverse()) await close();
  }

  /** A request with a key, or without one; by default one that succeeds. */
  ask(by: Key | null, route = 'GET /account', body?: Body, headers?: Headers): Promise<HttpResponse> {
    const [method = '', path = ''] = route.split(/ (.*)/s);
    const key = typeof by === 'string' ? by : by?.key;
    const all: Headers = {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    if (body === undefined) return this.call({ method, path, headers: all });
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
    return this.call({ method, path, headers: all, body: isRaw ? body : JSON.stringify(body) });
  }

  call(request: Call): Promise<HttpResponse> {
    return call(this.url, request);
  }

  /** An account, by default without limits. */
  async signUp(limits: Limits | 'free' = AMPLE): Promise<Account> {
    const { id, apiKey } = expectStatus(201, await this.ask(null, 'POST /accounts', { name: 'Test' })) as {
      id: string;
      apiKey: NewKey;
    };
    if (limits !== 'free') {
      const text = `UPDATE sluice.accounts SET plan = 'enterprise', per_minute = $2, per_day = $3 WHERE id = $1`;
      await this.sql(text, [id, limits.perMinute, limits.perDay]);
    }
    return { id, keyId: apiKey.id, key: apiKey.key };
  }

  /** A further key of an account. */
  async createKey(by: Key, input: object = {}): Promise<NewKey> {
    return newKey(await this.ask(by, 'POST /api-keys', { name: 'another', ...input }));
  }

  /** Whether a key is valid, regardless of its scopes. */
  async knows(key: Key): Promise<boolean> {
    return (await this.ask(key)).status !== 401;
  }

  /** `POST /messages`. */
  send(by: Key, { message = 'hello', body, headers }: Sending = {}): Promise<HttpResponse> {
    return this.ask(by, 'POST /messages', body ?? { message }, headers);
  }

  /** `POST /messages/batch`. */
  sendBatch(by: Key, { messages = ['hello'], body, headers }: BatchSending = {}): Promise<HttpResponse> {
    const valid = { messages: messages.map((message) => ({ message })) };
    return this.ask(by, 'POST /messages/batch', body ?? valid, headers);
  }

  /** Sends a message that must be accepted. */
  async sent(by: Key, sending?: Sending): Promise<SentMessage> {
    return expectStatus(202, await inTime(() => this.send(by, sending))) as unknown as SentMessage;
  }

  /** Puts a message into a status as if a worker had. */
  async become(id: string, status: string): Promise<void> {
    await this.sql(
      `UPDATE sluice.messages
       SET status = $2, updated_at = clock_timestamp(), attempts = 1, failure_reason = $3,
           claim = CASE $2 WHEN 'processing' THEN gen_random_uuid() END,
           claim_expires_at = CASE $2 WHEN 'processing' THEN now() + interval '1 minute' END,
           available_at = CASE WHEN $2 IN ('queued', 'processing') THEN available_at END
       WHERE id = $1`,
      [id, status, status === 'failed' ? 'the handler said no' : null],
    );
  }

  /** How many messages and idempotency keys an account has stored. */
  async stored({ id }: Account): Promise<{ messages: number; keys: number } | undefined> {
    const [counts] = await this.sql<{ messages: number; keys: number }>(
      `SELECT (SELECT count(*)::int FROM sluice.messages WHERE account_id = $1) AS messages,
              (SELECT count(*)::int FROM sluice.idempotency_keys WHERE account_id = $1) AS keys`,
      [id],
    );
    return counts;
  }

  /** Whether a message's job is in the queue, or on its way there; `jobId` is the job id of its n-th retry, if any. */
  async isQueued(id: string, jobId = id): Promise<boolean> {
    const { inOutbox, hasJob } = await this.progress(id, jobId);
    return inOutbox || hasJob;
  }

  /** Resolves when a message's job is in the queue and its outbox entry gone. */
  async relayed(id: string, jobId = id): Promise<void> {
    await until(async () => {
      const { inOutbox, hasJob } = await this.progress(id, jobId);
      return hasJob && !inOutbox;
    });
  }

  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /**
   * Keeps what a statement locks, until the function that it returns is called, which may do more in the transaction.
   * @param end how the transaction ends
   */
  async hold(statement: string, values: unknown[] = [], end: 'COMMIT' | 'ROLLBACK' = 'ROLLBACK') {
    const client = await this.pool.connect();
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    await client.query(statement, values);
    return async (more?: (client: pg.PoolClient) => Promise<unknown>): Promise<void> => {
      await more?.(client);
      await client.query(end);
      client.release();
    };
  }

  /** Does something while this statement keeps its locks. */
  async during<T>(statement: string, values: unknown[], work: () => Promise<T>): Promise<T> {
    const release = await this.hold(statement, values);
    try {
      return await work();
    } finally {
      await release();
    }
  }

  /** The lines of its log, where LOG_LEVEL is not `silent`. */
  log(): string[] {
    return readFileSync(this.environment.LOG_FILE ?? '', 'utf8')
      .split('\n')
      .slice(0, -1);
  }

  private async progress(id: string, jobId: string): Promise<{ inOutbox: boolean; hasJob: boolean }> {
    // One statement, so that an entry that becomes a job meanwhile is found in one of both.
    const [row] = await this.sql<{ inOutbox: boolean; hasJob: boolean }>(
      `SELECT EXISTS (SELECT FROM sluice.outbox WHERE $1 = ANY (message_ids)) AS "inOutbox",
              EXISTS (SELECT FROM bullmq.job WHERE id = $2) AS "hasJob"`,
      [id, jobId],
    );
    return row ?? { inOutbox: false, hasJob: false };
  }

  private connect(databaseUrl: string): void {
    // The test server's default would make statements fail that wait for one of Sluice's.
    const options = '-c default_transaction_isolation=read\\ committed';
    this.pool = new pg.Pool({ connectionString: databaseUrl, max: 4, options });
    this.pool.on('error', () => undefined);
    this.closing.push(() => this.pool.end());
  }

  private async run(settings: Settings): Promise<void> {
    const { stop, ...started } = await startHosted(settings);
    Object.assign(this, started);
    this.closing.push(stop);
  }
}

/** The key of a response that made one. */
export function newKey(response: HttpResponse): NewKey {
  return expectStatus(201, response) as unknown as NewKey;
}

/** A list's page. */
export function pageOf<Item = Record<string, unknown>>(response: HttpResponse): Page<Item> {
  return expectStatus(200, response) as unknown as Page<Item>;
}

/** All pages of a list, each of this size. */
export async function pagesOf(api: TestApi, by: Key, path: string, limit: number) {
  const pages: (readonly Record<string, unknown>[])[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const query = `${path.includes('?') ? '&' : '?'}limit=${limit}${from}`;
    const { data, nextCursor } = pageOf(await api.ask(by, `GET ${path}${query}`));
    pages.push(data);
    cursor = nextCursor;
  }
  return pages;
}

/** The statuses of responses, sorted. */
export function statusesOf(responses: readonly HttpResponse[]): number[] {
  return responses.map(({ status }) => status).sort((a, b) => a - b);
}

/** Fails unless the response is the problem document of this code, whole and in its form; returns the document. */
export function expectProblem(response: HttpResponse, status: number, code: string): Record<string, unknown> {
  const problem = response.body;
  expect({ status: response.status, code: problem.code }).toEqual({ status, code });
  expect(response.headers).toMatchObject({
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

/** Fails unless a response has this status. @returns its JSON */
export function expectStatus(status: number, response: HttpResponse): Record<string, unknown> {
  if (response.status !== status) throw new Error(`The response is ${response.status}: ${response.bytes.toString()}`);
  return response.body;
}
