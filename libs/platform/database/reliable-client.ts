import { isIP } from 'node:net';
import pg from 'pg';
import { tlsOptions } from '../process/tls-files.js';
import { parseDatabaseUrl, type Attempt, type DatabaseAddress } from './database-url.js';
import { isNotWritable, isUnavailable, makesUseless } from './errors.js';
import { notUnderstood, refuseStrangeMessages, type PgConnection } from './server-messages.js';
import { requireUsableSession } from './session.js';
import { STRICT_TYPES } from './strict-types.js';

/** The error message of pg when a query exceeds `query_timeout`. */
const READ_TIMEOUT = 'Query read timeout';

/** How often a connection that listens is checked: it may lead to a server that is no longer the primary. */
const CHECK_LISTENER_EVERY_MS = 60_000;

/** Private fields of a pg client that is not connected yet; pg has no public way to set them later. */
interface Unopened {
  host: string;
  port: number;
  ssl: boolean | object;
  readonly connection: PgConnection;
}

/** The attempt that succeeded last, by URL: it is the first of the next connection. */
const lastGood = new Map<string, Attempt>();

/** All connections of this process that listen. */
const listeners = new Set<ReliableClient>();

/**
 * A connection that never ends the process and is never reused after a timeout, or once it is useless.
 *
 * A pool removes its error listener when it lends a connection, and the borrower can add one only after the packet in
 * progress, which may contain the shutdown notice of the server. The failed query, or the pool, reports the loss.
 *
 * After `query_timeout` pg keeps the connection open with the query still pending, so every later query on a half-open
 * link would time out as well.
 *
 * It reads its URL as libpq does, and not as pg does: `connectionString` may name several hosts, certificates are read
 * anew, and its options are combined with ours, which come last and count.
 */
export class ReliableClient extends pg.Client {
  /** When it was opened, as `performance.now()`. */
  readonly openedAt = performance.now();
  private useless = false;
  readonly #url: string | undefined;
  readonly #address: DatabaseAddress | undefined;
  readonly #config: pg.ClientConfig;
  private checks: NodeJS.Timeout | undefined;

  constructor(config: string | pg.ClientConfig = {}) {
    const { connectionString, ...rest } = typeof config === 'string' ? { connectionString: config } : config;
    const address = connectionString === undefined ? undefined : parseDatabaseUrl(connectionString);
    const merged = { ...rest, ...(address !== undefined && configOf(address, rest)), types: STRICT_TYPES };
    super(merged);
    this.#config = merged;
    this.#url = connectionString;
    this.#address = address;
    this.on('error', ignore);
    refuseStrangeMessages((this as unknown as Unopened).connection);
    this.once('end', () => {
      clearInterval(this.checks);
      listeners.delete(this);
    });
  }

  /** Whether the session can do nothing any more, such as one of a server that is no longer the primary. */
  get isUseless(): boolean {
    return this.useless;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void;
  override connect(callback?: (error: never, client: pg.Client) => void): Promise<pg.Client> | undefined {
    const opening = this.open();
    if (callback === undefined) return opening;
    opening.then(
      () => {
        callback(null as never, this);
      },
      (error: unknown) => {
        callback(error as never, this);
      },
    );
    return undefined;
  }

  override query(...args: unknown[]): never {
    const result = (super.query as (...args: unknown[]) => unknown).apply(this, args);
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        this.noteFailure(error);
      });
    }
    if (typeof args[0] === 'string' && /^LISTEN /m.test(args[0])) this.listen();
    return result as never;
  }

  private noteFailure(error: unknown): void {
    if (error instanceof Error && error.message === READ_TIMEOUT) void this.end();
    if (!makesUseless(error)) return;
    this.useless = true;
    if (isNotWritable(error)) for (const listener of listeners) void listener.check();
  }

  private async open(): Promise<pg.Client> {
    if (this.#address !== undefined) {
      const { attempts } = this.#address;
      this.use(attempts.length === 1 ? attempts[0] : await this.firstUsable(this.#address));
    }
    let connected = false;
    try {
      await super.connect().catch(explain);
      connected = true;
      await requireUsableSession(this);
    } catch (error) {
      void this.end().catch(ignore);
      // What isn't a session, perhaps not even of PostgreSQL, may never close the connection.
      if (!connected) (this as unknown as Unopened).connection.stream.destroy();
      if (isNotWritable(error)) for (const listener of listeners) void listener.check();
      throw error;
    }
    return this;
  }

  /** Tries the hosts one after another. Each needs a new client, since pg can connect a client only once. */
  private async firstUsable({ attempts, shuffled }: DatabaseAddress): Promise<Attempt> {
    const url = this.#url ?? '';
    const { connectionTimeoutMillis = 0 } = this.#config;
    const known = lastGood.get(url);
    const order = shuffled ? [...attempts].sort(() => Math.random() - 0.5) : [...attempts];
    if (known !== undefined && !shuffled) order.sort((a, b) => Number(b === known) - Number(a === known));
    let failure: unknown;
    for (const attempt of order) {
      const one = new ReliableClient({
        ...this.#config,
        connectionTimeoutMillis: Math.ceil(connectionTimeoutMillis / order.length),
      });
      one.use(attempt, this.#address);
      try {
        await one.connect();
        lastGood.set(url, attempt);
        return attempt;
      } catch (error) {
        failure = error;
      } finally {
        one.end().catch(ignore);
      }
    }
    throw failure;
  }

  private use(attempt: Attempt | undefined, address = this.#address): void {
    if (attempt === undefined || address === undefined) return;
    const { host, address: numeric, port, encrypted } = attempt;
    const unopened = this as unknown as Unopened;
    const name = numeric ?? host;
    if (name !== undefined) unopened.host = name;
    if (port !== undefined) unopened.port = port;
    if (address.channelBinding === 'require') requireChannelBinding(unopened.connection);
    if (!encrypted) return;
    const ssl = {
      ...tlsOptions(address.tls, 'DATABASE_URL'),
      // Also if another address is connected to. SNI allows only names.
      ...(host !== undefined && { host, ...(isIP(host) === 0 && { servername: host }) }),
    };
    unopened.ssl = ssl;
    unopened.connection.ssl = ssl;
  }

  private listen(): void {
    if (this.checks !== undefined) return;
    listeners.add(this);
    this.checks = setInterval(() => void this.check(), CHECK_LISTENER_EVERY_MS).unref();
  }

  /** Ends it as if the connection was lost, which its user notices, unless its server is still the primary. */
  private async check(): Promise<void> {
    try {
      await requireUsableSession(this);
    } catch (error) {
      (this as unknown as Unopened).connection.stream.destroy(error as Error);
    }
  }
}

function configOf(address: DatabaseAddress, config: pg.ClientConfig): pg.ClientConfig {
  const { applicationName, fallbackApplicationName, connectTimeoutMs, keepAliveIdleMs } = address;
  const options = [address.options, config.options ?? ''].filter((some) => some !== '').join(' ');
  const { connectionTimeoutMillis = connectTimeoutMs } = config;
  return {
    user: address.user,
    password: address.password,
    database: address.database,
    // pg checks these two; what is used for an attempt is set when it is made.
    ssl: address.directTls,
    sslnegotiation: address.directTls ? 'direct' : 'postgres',
    ...(options !== '' && { options }),
    ...(applicationName !== undefined && { application_name: applicationName }),
    ...(config.application_name === undefined && { fallback_application_name: fallbackApplicationName }),
    ...(connectionTimeoutMillis !== undefined && {
      connectionTimeoutMillis: Math.min(connectionTimeoutMillis, connectTimeoutMs ?? Infinity),
    }),
    ...(!address.keepAlive && { keepAlive: false }),
    ...(keepAliveIdleMs !== undefined && { keepAliveInitialDelayMillis: keepAliveIdleMs }),
    enableChannelBinding: address.channelBinding !== 'disable',
  };
}

/** Whatever else happens while it connects, the server has sent what pg did not expect. */
function explain(error: unknown): never {
  const isUnderstood = error instanceof pg.DatabaseError ? error.code !== undefined : isUnavailable(error);
  throw isUnderstood ? error : notUnderstood(error);
}

/** Ends a connection whose server asks for a password in another way, before it gets one. */
function requireChannelBinding(connection: Unopened['connection']): void {
  const refuse = () => {
    const error = new Error('The server does not support channel binding');
    connection.stream.destroy(Object.assign(error, { code: 'ERR_TLS_CHANNEL_BINDING' }));
  };
  for (const event of ['authenticationCleartextPassword', 'authenticationMD5Password']) {
    connection.prependListener(event, refuse);
  }
  connection.prependListener('authenticationSASL', ({ mechanisms }: { mechanisms: readonly string[] }) => {
    if (!mechanisms.includes('SCRAM-SHA-256-PLUS')) refuse();
  });
}

function ignore(): void {
  // Deliberately empty: see ReliableClient.
}
