import { jsonOf, objectIn, textOf } from './body.js';
import { ConnectionError, DOUBT, errorOf, RateLimitError, SluiceError, unexpected } from './errors.js';
import { List } from './list.js';
import { Pause } from './pause.js';
import { readRateLimit, type RateLimit } from './rate-limit.js';
import { backoffMs, sleep, within } from './timing.js';
import type { Page } from './types.js';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, also while it waits: it then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Is called for each response, also for those of tries that failed. */
  readonly onResponse?: ((response: ResponseInfo) => void) | undefined;
}

/** Options of a call that may be repeated by the program itself. */
export interface OnceOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters, known for 24 hours: another call with the same key and input gets the result of the
   * first one, and does nothing. With it, the call is repeated also when its outcome is unknown.
   */
  readonly idempotencyKey?: string | undefined;
}

/** What a response says besides its body. */
export interface ResponseInfo {
  readonly method: string;
  /** Without the base URL and the query. */
  readonly path: string;
  readonly status: number;
  /** Names the request in the server's log; null if the response is not from Sluice. */
  readonly requestId: string | null;
  /** Null if the response does not state it. */
  readonly rateLimit: RateLimit | null;
  readonly headers: Headers;
}

/** Which page of a list. */
export interface ListOptions extends CallOptions {
  /** The size of a page, 1 to 100. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** A call that failed and will be repeated. */
export interface Retry {
  readonly error: SluiceError;
  readonly waitMs: number;
  /** How many tries there were, at least 1. */
  readonly tries: number;
}

export interface TransportOptions {
  /** The address of the server. */
  readonly baseUrl: string | URL;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** How often one call may be tried: 6 by default. */
  readonly maxTries?: number | undefined;
  /** How long one try may take, including the body of its response: 30 s by default. */
  readonly timeoutMs?: number | undefined;
  /** How long a call may take with all its tries and waits: 2 minutes by default. */
  readonly deadlineMs?: number | undefined;
  /** Is called before a call waits to be repeated. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Is called for each response, of every call. */
  readonly onResponse?: ((response: ResponseInfo) => void) | undefined;
}

export interface Call extends CallOptions {
  /** Without types, it may be anything, of which a test would make a text. */
  readonly idempotencyKey?: unknown;
  readonly query?: Readonly<Record<string, string | number | boolean | Date | null | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a POST without an idempotency key can be repeated although its outcome is unknown; other methods can. */
  readonly repeatable?: boolean;
  /** How long the server may take longer than usual. */
  readonly patienceMs?: number;
  /** Whether only the signal ends its tries. */
  readonly unbounded?: boolean;
  /** A field that the result has; null if there is no result. By default it has any. */
  readonly field?: string | null;
}

/** What all tries of a call send. */
interface Sent {
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
  readonly redirect: 'manual';
  readonly cache?: 'no-store';
}

type Fetch = typeof globalThis.fetch;
type Read<T> = (response: Response, sent: string | null) => Promise<T> | T;

/** Sends requests, and repeats them where that is safe. */
export class Transport {
  /** What the last response said. */
  rateLimit: RateLimit | null = null;
  readonly #apiKey: string | null;
  readonly #url: string;
  readonly #options: TransportOptions;
  readonly #pause = new Pause();

  /** @param apiKey null where none is needed; undefined if a caller without types has left it out */
  constructor(apiKey: string | null | undefined, options: TransportOptions) {
    // `fetch` would repeat an invalid header value in its error.
    if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey ?? ''))
      throw new TypeError('apiKey must be an API key: slc_….');
    for (const name of ['maxTries', 'timeoutMs', 'deadlineMs'] as const) {
      const { [name]: bound = 1 }: Readonly<Record<string, unknown>> = { ...options };
      if (typeof bound !== 'number' || !(bound > 0)) throw new RangeError(`${name} must be a positive number.`);
    }
    this.#apiKey = apiKey ?? null;
    this.#url = addressOf(options.baseUrl);
    this.#options = options;
  }

  /** A call whose response is JSON, or empty. Others of success are of proxies, and say nothing about the outcome. */
  json<T>(method: string, path: string, call: Call = {}): Promise<T> {
    const { field = method === 'DELETE' ? null : undefined } = call;
    return this.send(method, path, call, async (response, sent) => {
      const text = await textOf(response, sent);
      if (response.status === 204 && field === null) return undefined as T;
      try {
        return objectIn(text ?? '', field) as T;
      } catch (cause) {
        const fault = text === null ? 'is longer than any' : 'not the JSON';
        throw unexpected(
          `${fault} of Sluice: check baseUrl (https?) and proxies.${method === 'GET' ? '' : DOUBT}`,
          response.status,
          cause,
        );
      }
    });
  }

  /** The items of a response. */
  async items<Item>(method: string, path: string, call?: Call): Promise<Item[]> {
    return (await this.json<{ data: Item[] }>(method, path, { ...call, field: 'data' })).data;
  }

  /** All options but those of every call are parameters of the query. */
  list<Item>(path: string, { signal, onResponse, cursor: first, ...filter }: ListOptions): List<Item> {
    return new List((cursor = first) =>
      this.json<Page<Item>>('GET', path, { query: { ...filter, cursor }, signal, onResponse, field: 'data' }),
    );
  }

  /** @param read gets a response of success; the limit of a try includes it */
  async send<T>(method: string, path: string, call: Call = {}, read: Read<T>): Promise<T> {
    const {
      body,
      headers,
      signal,
      idempotencyKey: key = null,
      repeatable = method !== 'POST' || key !== null,
      patienceMs = 0,
      unbounded = false,
    } = call;
    if (key !== null && (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)))
      throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters without spaces.');
    const options = { ...this.#options, ...(unbounded && { maxTries: Infinity, deadlineMs: Infinity }) };
    const { maxTries = 6, timeoutMs = 30_000, deadlineMs = 120_000, onRetry, fetch = globalThis.fetch } = options;
    if (typeof fetch !== 'function') throw new TypeError('fetch is missing: pass one to the client.');
    const deadline = performance.now() + deadlineMs + patienceMs;
    // Before anything is awaited: the caller may change what it has passed.
    const sent: Sent = {
      method,
      headers: new Headers({
        ...(this.#apiKey !== null && { authorization: `Bearer ${this.#apiKey}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== null && { 'idempotency-key': key }),
        ...headers,
      }),
      body: body === undefined ? null : jsonOf(body),
      // A redirected POST would become a GET.
      redirect: 'manual',
      // Next.js 13 and 14 cache what they fetch, also a POST. Other runtimes throw on what they don't know.
      ...('cache' in Request.prototype && { cache: 'no-store' as const }),
    };
    let outcomeUnknown = false;
    let failure: SluiceError | undefined;
    for (let tries = 1; ; tries++) {
      await this.#pause.end(deadline, signal);
      const ms = Math.min(timeoutMs + patienceMs, deadline - performance.now());
      if (ms <= 0 && failure !== undefined) throw failure;
      try {
        return await this.#try(path, call, sent, ms, read, fetch);
      } catch (error) {
        if (!(error instanceof SluiceError)) throw error;
        // An earlier try may have deleted it.
        if (outcomeUnknown && method === 'DELETE' && error.status === 404 && error.problem) return undefined as T;
        const isRefused = error instanceof RateLimitError;
        const nothingDone = isRefused || error.status === 408 || wasNotSent(error);
        outcomeUnknown ||= !nothingDone;
        failure = error;
        const waitMs = isRefused
          ? Math.max(this.#pause.leftMs, backoffMs(tries))
          : (error.retryAfter ?? 0) * 1_000 + backoffMs(tries);
        const isLast = tries >= maxTries || performance.now() + waitMs > deadline;
        if (isLast || !error.isRetryable || !(repeatable || nothingDone)) throw error;
        onRetry?.({ error, waitMs, tries });
        // All calls wait for the end of a pause together.
        if (!isRefused || !error.retryAfter) await sleep(waitMs, signal);
      }
    }
  }

  async #try<T>(path: string, call: Call, sent: Sent, ms: number, read: Read<T>, fetch: Fetch): Promise<T> {
    const { query = {}, signal: caller } = call;
    const startedAt = performance.now();
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      // A Date of another realm is no `instanceof` Date.
      if (value != null) search.set(name, typeof value === 'object' ? value.toISOString() : String(value));
    }
    const timedOut = new ConnectionError({
      message: `${sent.method} ${path} had no complete response after ${Math.max(0, Math.round(ms))} ms.`,
      code: 'timed_out',
    });
    if (ms <= 0) throw timedOut;
    let response: Response | undefined;
    const answered = within(ms, timedOut, caller, async (signal) => {
      try {
        response = await fetch(`${this.#url}${path}?${search.toString()}`.replace(/\?$/, ''), {
          ...sent,
          signal,
        });
        if (response.ok) {
          const result = await read(response, sent.body);
          this.#pause.succeeded(startedAt);
          return result;
        }
        const error = errorOf(response, (await textOf(response, sent.body)) ?? '', sent.method);
        if (error instanceof RateLimitError) this.#pause.begin(error);
        throw error;
      } catch (error) {
        if (error instanceof SluiceError) throw error;
        if (signal.aborted) throw signal.reason;
        if (isMisuse(error)) throw error;
        const message = `${sent.method} ${path} failed: ${reasonOf(error)}`;
        throw new ConnectionError({ message, code: 'connection_failed', cause: error });
      }
    });
    try {
      return await answered;
    } finally {
      // An error of a listener is the caller's, and no reason to repeat the request.
      if (response !== undefined) this.#tell(response, sent.method, path, call);
    }
  }

  #tell({ status, headers }: Response, method: string, path: string, call: Call): void {
    const rateLimit = readRateLimit(headers);
    this.rateLimit = rateLimit ?? this.rateLimit;
    for (const { onResponse } of [this.#options, call]) {
      onResponse?.({ method, path, status, requestId: headers.get('x-request-id'), rateLimit, headers });
    }
  }
}

/** What Node.js states as the cause of an error of `fetch`. */
interface Cause {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly syscall?: unknown;
  /** One for each address that was tried. */
  readonly errors?: readonly Cause[];
}

function causeOf(error: unknown): Cause {
  return (error as { cause?: Cause } | undefined)?.cause ?? {};
}

/** Whether the connection could not be made; established ones break with the same codes. */
function wasNotSent({ cause }: SluiceError): boolean {
  const inner = causeOf(cause);
  return (inner.errors?.length ? inner.errors : [inner]).every(
    ({ code, syscall }) => code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo',
  );
}

/** Whether `fetch` would never send this. */
function isMisuse(error: unknown): boolean {
  const { message, code } = causeOf(error);
  return message === 'bad port' || code === 'UND_ERR_INVALID_ARG';
}

/** Without credentials, which errors would show. */
function addressOf(baseUrl: string | URL): string {
  let url: URL | undefined;
  if (!baseUrl)
    throw new TypeError('baseUrl is missing: the address of the server, such as https://sluice.example.com.');
  try {
    url = new URL(baseUrl);
  } catch {
    // Its error has the whole of it.
  }
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username + url.password + url.search + url.hash !== ''
  )
    throw new TypeError('baseUrl must be an http: or https: URL without user, password, query and fragment.');
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

/** The error of `fetch` says little in Node.js; its cause says what happened. */
function reasonOf(error: unknown): string {
  const { message, code } = causeOf(error);
  const said = [message, code, error instanceof Error ? error.message : error];
  return String(said.find((one) => one !== undefined && one !== ''));
}

/** The path of something that an id names. @throws TypeError for an id that would lead to another path */
export function pathOf(strings: TemplateStringsArray, ...ids: string[]): string {
  if (ids.some((id) => /^\.{0,2}$/.test(id))) throw new TypeError('An id is empty, "." or "..".');
  return String.raw({ raw: strings }, ...ids.map(encodeURIComponent));
}
