import { connect } from 'node:net';
import pg from 'pg';
import { createLogger } from '#platform/logging.js';
import { readSettings } from '#platform/settings.js';
import { startApi, type Api } from '../../apps/api/api.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { expectDocumented } from './documented.js';
import { answerIn, requestsIn } from './http.js';

/** An account with one of its keys. */
export interface Holder {
  readonly accountId: string;
  readonly keyId: string;
  readonly key: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON of the body; empty where there is none. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Question {
  /** Which of the APIs is asked. */
  readonly api?: number;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Where the windows of an account stand; milliseconds that are left of them. */
export interface Windows {
  readonly minuteUsed?: number;
  readonly minuteLeft?: number;
  readonly dayUsed?: number;
  readonly dayLeft?: number;
}

export const REFUSED = '429 rate_limit_exceeded';
export const BANNED = '429 api_key_banned';
export const MINUTE = 60_000;
export const DAY = 86_400_000;
export const ADMIN_API_KEY = 'the-operators-of-the-tests-have-this-one';

/** What processes of the program take for tests, but for their database. */
export const ENVIRONMENT = {
  ...{ HOST: '127.0.0.1', PORT: '0', MANAGEMENT_PORT: '0', LOG_LEVEL: 'silent', DATABASE_POOL_SIZE: '5' },
  ...{ API_KEY_PEPPER: 'a pepper for tests, long enough to pass', ADMIN_API_KEY },
  ...{ SIGNUPS_PER_HOUR: '100000', ANONYMOUS_PER_MINUTE: '100000' },
};

interface Setup {
  /** How many APIs; each has connections of its own, as a process has. */
  readonly apis?: number;
  /** Makes the URL under which the APIs reach their database. */
  readonly through?: (databaseUrl: string) => Promise<string>;
}

/** APIs on a database of their own, for tests of what they let pass. */
export class LimitedApis {
  private readonly pool: pg.Pool;

  private constructor(
    private readonly apis: readonly Api[],
    private readonly database: TestDatabase,
  ) {
    this.pool = new pg.Pool({ connectionString: database.url, max: 3 });
    this.pool.on('error', () => undefined);
  }

  static async start(settings: Readonly<Record<string, string>> = {}, setup: Setup = {}): Promise<LimitedApis> {
    const { apis = 1, through = (url) => Promise.resolve(url) } = setup;
    const database = await createTestDatabase();
    const env = { ...ENVIRONMENT, DATABASE_URL: await through(database.url), ...settings };
    const logger = createLogger('silent', 'api');
    const started = Array.from({ length: apis }, () => startApi(readSettings(env), logger));
    return new LimitedApis(await Promise.all(started), database);
  }

  url(api = 0): string {
    return this.apis[api]?.url ?? '';
  }

  /** A new account; its limits are those of `enterprise` when they are given. */
  async signUp(limits?: { perMinute: number; perDay: number }): Promise<Holder> {
    const holder = await signUpAt(this.url());
    if (limits !== undefined) await this.change(holder.accountId, { plan: 'enterprise', limits });
    return holder;
  }

  /** Another key of the same account. */
  async anotherKey(holder: Holder): Promise<Holder> {
    const { body } = await this.ask(holder, { method: 'POST', path: '/api-keys', body: '{"name":"another"}' });
    return { ...holder, keyId: String(body.id), key: String(body.key) };
  }

  /** A request of an account, or of a stranger; without more a small one that succeeds. */
  ask(holder: Pick<Holder, 'key'> | null, { api = 0, headers, ...question }: Question = {}): Promise<Answer> {
    const authorization = holder === null ? {} : bearer(holder);
    return ask(this.url(api), { ...question, headers: { ...authorization, ...headers } });
  }

  /** So many requests at once, evenly through all APIs. */
  burst(holder: Holder, count: number): Promise<Answer[]> {
    return Promise.all(Array.from({ length: count }, (_, n) => this.ask(holder, { api: n % this.apis.length })));
  }

  /** So many requests, one after the other. */
  async series(holder: Holder, count: number, question?: Question): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let sent = 0; sent < count; sent++) answers.push(await this.ask(holder, question));
    return answers;
  }

  /** A request of an operator. */
  operate(question: Question): Promise<Answer> {
    return this.ask({ key: ADMIN_API_KEY }, question);
  }

  async change(accountId: string, change: object): Promise<void> {
    const path = `/admin/accounts/${accountId}`;
    const { status } = await this.operate({ method: 'PATCH', path, body: JSON.stringify(change) });
    if (status !== 200) throw new Error(`The plan was not changed: ${status}`);
  }

  /** Puts an account's windows where a test wants them. */
  async setWindows({ accountId }: Holder, windows: Windows): Promise<void> {
    const { minuteUsed = 0, minuteLeft = MINUTE, dayUsed = 0, dayLeft = DAY } = windows;
    await this.sql(
      `INSERT INTO sluice.rate_limits AS r (account_id, minute_used, minute_ends_ms, day_used, day_ends_ms)
       SELECT $1, $2, now_ms + $3, $4, now_ms + $5
       FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms) AS clock
       ON CONFLICT (account_id) DO UPDATE SET minute_used = excluded.minute_used, day_used = excluded.day_used,
         minute_ends_ms = excluded.minute_ends_ms, day_ends_ms = excluded.day_ends_ms`,
      [accountId, minuteUsed, minuteLeft, dayUsed, dayLeft],
    );
  }

  /** Lets time pass for the windows of an account. */
  async pass({ accountId }: Holder, ms: number): Promise<void> {
    await this.sql(
      `UPDATE sluice.rate_limits SET minute_ends_ms = minute_ends_ms - $2, day_ends_ms = day_ends_ms - $2
       WHERE account_id = $1`,
      [accountId, ms],
    );
  }

  /** An account whose minute is used up, and whose key has gone on since. */
  async offender(strikes: number, account?: Holder): Promise<Holder> {
    const holder = account ?? (await this.signUp());
    await this.setWindows(holder, { minuteUsed: 60 });
    await this.sql(
      `INSERT INTO sluice.offences (key_id, account_id, refusing_window_ends_ms, strikes, strikes_end_ms)
       SELECT $2, account_id, minute_ends_ms, $3, minute_ends_ms FROM sluice.rate_limits WHERE account_id = $1`,
      [holder.accountId, holder.keyId, strikes],
    );
    return holder;
  }

  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /** Keeps what a statement locks, until the function that it returns is called. */
  async hold(statement: string): Promise<() => Promise<void>> {
    const client = await this.pool.connect();
    await client.query('BEGIN');
    await client.query(statement);
    return async () => {
      await client.query('ROLLBACK');
      client.release();
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.apis.map((api) => api.stop()));
    await this.pool.end();
    await this.database.drop();
  }
}

export async function signUpAt(url: string): Promise<Holder> {
  const answer = await ask(url, { method: 'POST', path: '/accounts', body: '{"name":"tests"}' });
  const { id, apiKey } = answer.body as { id: string; apiKey: { id: string; key: string } };
  return { accountId: id, keyId: apiKey.id, key: apiKey.key };
}

export function bearer({ key }: Pick<Holder, 'key'>): { authorization: string } {
  return { authorization: `Bearer ${key}` };
}

export async function ask(
  url: string,
  { method = 'GET', path = '/account', headers, body }: Question,
): Promise<Answer> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = { ...type, ...headers };
  const response = await fetch(url + path, { method, headers: sent, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  const answered = { status: response.status, headers: Object.fromEntries(response.headers), bytes: Buffer.from(text) };
  expectDocumented({ method, target: path }, answered);
  const isJson = /^application\/(problem\+)?json/.test(response.headers.get('content-type') ?? '');
  const json = isJson && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.status, headers: response.headers, body: json };
}

/** The number in a header. */
export function numberIn({ headers }: Answer, name: string): number {
  const value = headers.get(name);
  return value !== null && /^\d+$/.test(value) ? Number(value) : NaN;
}

/** What `X-RateLimit-*` say, and in how many seconds the window resets. */
export function shown(answer: Answer): { limit: number; remaining: number; resetsIn: number } {
  return {
    limit: numberIn(answer, 'x-ratelimit-limit'),
    remaining: numberIn(answer, 'x-ratelimit-remaining'),
    resetsIn: numberIn(answer, 'x-ratelimit-reset') - Date.now() / 1_000,
  };
}

/** What those who passed were told remains, the most first. */
export function remainingOf(answers: readonly Answer[]): number[] {
  const passed = answers.filter(({ status }) => status < 300);
  return passed.map((answer) => shown(answer).remaining).sort((a, b) => b - a);
}

/** The status of an answer, of a problem with its code. */
export function kindOf({ status, body }: Answer): string {
  return typeof body.code === 'string' ? `${status} ${body.code}` : String(status);
}

/** How many answers there are of each status, of a problem with its code. */
export function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of answers.map(kindOf)) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** A request as it travels, or several; what follows the blank line is a body. */
export function asText(...lines: readonly string[]): string {
  return [...lines, '', ''].join('\r\n');
}

/**
 * What a server says to a text until it ends the connection, byte for byte. The OpenAPI document must tell of the
 * first answer.
 */
export async function onTheWire(url: string, text: string): Promise<string> {
  const said = await saidTo(url, text);
  const [asked] = requestsIn(text);
  let answer = answerIn(Buffer.from(said, 'latin1'), asked?.method);
  while (answer !== null && answer.status < 200) answer = answerIn(answer.rest, asked?.method);
  if (answer !== null) expectDocumented(asked, answer);
  return said;
}

function saidTo(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let said = '';
    socket.setEncoding('latin1').on('data', (piece) => (said += String(piece)));
    socket.on('end', () => {
      socket.destroy();
      resolve(said);
    });
    socket.on('error', reject);
    socket.write(text);
  });
}
