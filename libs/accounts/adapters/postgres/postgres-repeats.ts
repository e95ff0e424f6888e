import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { DomainError } from '#kernel/domain-error.js';
import { isTypeId } from '#kernel/typeid.js';
import type { Database } from '#platform/database/database.js';
import { isContention } from '#platform/database/errors.js';
import type { Repositories } from '#platform/database/repositories.js';
import { networkOf } from '#platform/http/access/client-address.js';
import { readIdempotencyKey, Repeats, type Repeatable } from '#platform/http/access/repeats.js';

/** How long a request waits for another one with the same key. */
const MAX_WAIT_MS = 5_000;
/** How often it looks whether that has ended, where no lock says so. */
const POLL_MS = 50;
const LIFETIME = `interval '24 hours'`;
/** After it, work that was begun and neither ended nor failed is taken for that of a process that was killed. */
const CLAIM = `interval '30 seconds'`;

// Expired keys of all owners: each request removes more than it adds.
const DELETE_EXPIRED = `
  DELETE FROM sluice.kept_responses WHERE ctid IN (
    SELECT ctid FROM sluice.kept_responses WHERE stored_at <= now() - ${LIFETIME}
    ORDER BY stored_at LIMIT 10 FOR UPDATE SKIP LOCKED)`;

const FIND = 'SELECT fingerprint, sealed FROM sluice.kept_responses WHERE scope = $1 AND key_hash = $2';

// Waits for a request with the same key that is in progress. One that has expired is replaced. Without a response, it is
// a claim: its work is in progress.
const KEEP = `
  INSERT INTO sluice.kept_responses AS k (scope, key_hash, fingerprint, sealed, account_id)
  SELECT $1, $2, $3, '', NULL WHERE NOT sluice.is_account_deleted($1)
  ON CONFLICT (scope, key_hash) DO UPDATE
  SET fingerprint = excluded.fingerprint, sealed = excluded.sealed, stored_at = excluded.stored_at,
      account_id = excluded.account_id
  WHERE k.stored_at <= now() - CASE WHEN k.sealed = '' THEN ${CLAIM} ELSE ${LIFETIME} END
  RETURNING 1`;

const SEAL = 'UPDATE sluice.kept_responses SET sealed = $3, account_id = $4 WHERE scope = $1 AND key_hash = $2';

const RELEASE = `DELETE FROM sluice.kept_responses WHERE scope = $1 AND key_hash = $2 AND sealed = ''`;

/** A response as it is kept. */
interface Kept {
  readonly body: unknown;
  readonly location: string | null;
  /** The scopes of the first caller. A caller that lacks one of them does not get the stored response. */
  readonly scopes: readonly string[];
}

interface Row {
  readonly fingerprint: Buffer;
  readonly sealed: Buffer;
}

/** One request with its key. */
interface Attempt extends Repeatable {
  readonly scope: string;
  readonly hash: Buffer;
  readonly fingerprint: Buffer;
  readonly seal: Buffer;
}

/** Keeps responses in PostgreSQL, where only who knows their Idempotency-Key can read them. */
export class PostgresRepeats extends Repeats {
  private constructor(
    private readonly repositories: Repositories,
    private readonly pepper: string,
  ) {
    super();
  }

  /** @param pepper the service's secret, the same for every process */
  static async open(database: Database, pepper: string): Promise<PostgresRepeats> {
    return new PostgresRepeats(await database.repositories([]), pepper);
  }

  async atomically<T>(repeatable: Repeatable, work: () => Promise<T>): Promise<T> {
    const attempt = this.attempt(repeatable);
    if (attempt === null) return work();
    return this.repositories.together(attempt.scope, async (manager) => {
      if (!(await keep(manager, attempt))) return (await replay(manager, attempt)) as T;
      const result = await work();
      await manager.query(SEAL, [attempt.scope, attempt.hash, seal(attempt, result), accountOf(attempt, result)]);
      return result;
    });
  }

  async afterwards<T>(repeatable: Repeatable, work: () => Promise<T>): Promise<T> {
    const attempt = this.attempt(repeatable);
    if (attempt === null) return work();
    const earlier = await this.claim(attempt);
    if (earlier !== null) return earlier.body as T;
    const { scope, hash } = attempt;
    const run = (statement: string, values: readonly unknown[]) =>
      this.repositories.change(scope, (manager) => manager.query(statement, [scope, hash, ...values]));
    try {
      const result = await work();
      await run(SEAL, [seal(attempt, result), accountOf(attempt, result)]);
      return result;
    } catch (error) {
      // What went wrong first says more. Without this, the claim ends by itself.
      await run(RELEASE, []).catch(() => undefined);
      throw error;
    }
  }

  /** @returns null once the work is this request's to do, or the response of another one that did it */
  private async claim(attempt: Attempt): Promise<{ readonly body: unknown } | null> {
    const deadline = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const found = await this.repositories.change(attempt.scope, async (manager) =>
        (await keep(manager, attempt)) ? 'claimed' : find(manager, attempt),
      );
      if (found === 'claimed') return null;
      if (found !== null) {
        assertSame(attempt, found);
        if (found.sealed.length > 0) return { body: responseOf(attempt, found) };
      }
      if (performance.now() > deadline) throw inUse();
      await sleep(POLL_MS);
    }
  }

  private attempt({ request, reply, body }: Repeatable): Attempt | null {
    const key = readIdempotencyKey(request.headers['idempotency-key'] as string | undefined);
    if (key === null) return null;
    const scope = scopeOf(request);
    const content = JSON.stringify([request.method, pathOf(request), body], inOneForm);
    return {
      ...{ request, reply, body, scope },
      hash: this.derived('hash', scope, key),
      fingerprint: createHash('sha256').update(content).digest(),
      seal: this.derived('seal', scope, key),
    };
  }

  private derived(purpose: string, scope: string, key: string): Buffer {
    return createHmac('sha256', this.pepper).update(`kept response ${purpose}\n${scope}\n${key}`).digest();
  }
}

/** For `JSON.stringify`: null means absent in these bodies, and the order of the members of an object means nothing. */
function inOneForm(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? undefined;
  // Those of a body have the order of its class.
  const isBody = Object.getPrototypeOf(value) !== Object.prototype;
  return isBody ? value : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The path as the router has read it: percent-encoded characters make it no other request. */
function pathOf({ routeOptions: { url = '' }, params }: Repeatable['request']): string {
  return url.replace(/:(\w+)/g, (_, name: string) => (params as Readonly<Record<string, string>>)[name] ?? '');
}

/** The owner of the idempotency keys: the account, or the address of a client without an account. */
function scopeOf({ caller, operator, clientAddress }: Repeatable['request']): string {
  if (caller !== undefined) return caller.accountId;
  return operator !== undefined ? 'operators' : `address ${networkOf(clientAddress)}`;
}

/** The account that a request without an account of its own is about: it is removed with that one. */
function accountOf({ request }: Attempt, result: unknown): string | null {
  if (request.caller !== undefined) return null;
  const texts = [(result as { readonly id?: unknown } | undefined)?.id, ...pathOf(request).split('/')];
  return (texts.find((text) => typeof text === 'string' && isTypeId('acct', text)) as string | undefined) ?? null;
}

/** Keeps the key without a response. @returns false when there is one already that holds, or its work is in progress */
async function keep(manager: EntityManager, { scope, hash, fingerprint }: Attempt): Promise<boolean> {
  await manager.query(`SELECT set_config('lock_timeout', $1, true)`, [String(MAX_WAIT_MS)]);
  try {
    await manager.query(DELETE_EXPIRED);
    return (await manager.query<unknown[]>(KEEP, [scope, hash, fingerprint])).length > 0;
  } catch (error) {
    if (!isContention(error)) throw error;
    throw inUse();
  }
}

function inUse(): DomainError {
  return new DomainError(
    'idempotency_key_in_use',
    'The first request with this key is still in progress. Retry later.',
  );
}

async function find(manager: EntityManager, { scope, hash }: Attempt): Promise<Row | null> {
  const [row] = await manager.query<Row[]>(FIND, [scope, hash]);
  return row ?? null;
}

async function replay(manager: EntityManager, attempt: Attempt): Promise<unknown> {
  const found = await find(manager, attempt);
  if (found === null) throw new DomainError('unavailable', 'The first request with this key has just ended. Retry.');
  assertSame(attempt, found);
  return responseOf(attempt, found);
}

function assertSame(attempt: Attempt, { fingerprint }: Row): void {
  if (fingerprint.equals(attempt.fingerprint)) return;
  const detail = 'The Idempotency-Key was used for a different request. Use a new one.';
  throw new DomainError('idempotency_key_reused', detail);
}

function responseOf(attempt: Attempt, { sealed }: Row): unknown {
  const { request, reply } = attempt;
  const { body, location, scopes } = unseal(attempt, sealed);
  const missing = scopes.filter((scope) => request.caller?.scopes.includes(scope) !== true);
  if (missing.length > 0) {
    const detail = `Use an API key with the scope ${missing.join(', ')}, as the first request did.`;
    throw new DomainError('insufficient_scope', detail);
  }
  void reply.header('idempotent-replayed', 'true');
  if (location !== null) void reply.header('location', location);
  return body ?? undefined;
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

function seal({ seal: key, request, reply }: Attempt, body: unknown): Buffer {
  const location = reply.getHeader('location');
  const kept: Kept = {
    body: body ?? null,
    location: typeof location === 'string' ? location : null,
    scopes: request.caller?.scopes ?? [],
  };
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce);
  const encrypted = Buffer.concat([cipher.update(JSON.stringify(kept)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

function unseal({ seal: key }: Attempt, sealed: Buffer): Kept {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  return JSON.parse(text.toString()) as Kept;
}
