import { batch, computed, signal } from '@preact/signals';
import {
  AuthenticationError,
  ConnectionError,
  RateLimitError,
  ServerError,
  Sluice,
  SluiceError,
  type RateLimit,
} from '#client/index.js';

/** How long after a failed request a page looks whether the API is back. */
const PROBE_MS = 3_000;
/** A timer that is set for 25 days ends at once. */
const LONGEST_HOLD_MS = 24 * 86_400_000;

/** Until when requests are refused. */
export interface Pause {
  readonly until: number;
  readonly error: RateLimitError;
}

/** What is special about the key of a page. */
interface KeyKind {
  /** A request that costs little, by which the page finds out whether the API is back. */
  readonly probe: (client: Sluice) => Promise<unknown>;
  /** Called when a request was refused because of the key. */
  readonly onRefused: () => void;
  /** Whether the server of the page responds `unavailable` while the API starts or stops. */
  readonly outlivesApi: boolean;
  /** Whether the server of the page has pages that explain errors. */
  readonly hasErrorPages: boolean;
}

export const BASE_URL = location.origin;

/** The key is in the memory of this tab and survives a reload, but is in no URL or cookie. */
export const apiKey = signal<string | null>(null);
/** A sentence for the page where visitors sign in: why they are there. */
export const notice = signal('');
export const pause = signal<Pause | null>(null);
/** Why nobody is reached; null while the API responds. */
export const outage = signal<SluiceError | null>(null);
export const rateLimit = signal<RateLimit | null>(null);
/** Changes when requests can succeed again: after an outage or a pause. */
export const revival = signal(0);

/** By how many milliseconds the clock of this device is ahead of that of the server; 0 if it is about right. */
export const clockAhead = signal(0);
/** A response is under way for a while, and states whole seconds. */
const CLOCK_TOLERANCE_MS = 120_000;

const timedFetch: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  const ahead = Date.now() - Date.parse(response.headers.get('date') ?? '');
  clockAhead.value = Math.abs(ahead) > CLOCK_TOLERANCE_MS ? ahead : 0;
  return response;
};

export const sluice = computed(() =>
  // The page shows an error instead of waiting for it to pass.
  apiKey.value === null
    ? null
    : new Sluice({ apiKey: apiKey.value, baseUrl: BASE_URL, maxTries: 1, fetch: timedFetch }),
);

/** The time from a sign-in to a sign-out. A key that takes the place of another one goes on with its session. */
let session = Symbol('session');

/** Takes the place of a response, so that what was begun in one session changes nothing in the next. */
export class SessionEndedError extends Error {}

/** @returns whether the session of this call has ended */
export function endOfSession(): () => boolean {
  const begun = session;
  return () => begun !== session;
}

let kind: KeyKind | null = null;
let nextProbe: ReturnType<typeof setTimeout> | undefined;

/** Called once, by what keeps the key of the page. */
export function connect(stored: string | null, ofKind: KeyKind): void {
  apiKey.value = stored;
  kind = ofKind;
}

export const hasErrorPages = (): boolean => kind?.hasErrorPages === true;

/** Every call of the API goes through here, so that what concerns all views is noticed once. */
export async function call<T>(work: (client: Sluice) => Promise<T>): Promise<T> {
  const client = sluice.value;
  if (client === null) throw new Error('Nobody is signed in.');
  if (pause.value !== null) throw pause.value.error;
  const isOver = endOfSession();
  try {
    const result = await work(client);
    if (isOver()) throw new SessionEndedError();
    back();
    return result;
  } catch (error) {
    if (isOver()) throw new SessionEndedError();
    // The key may have been replaced meanwhile.
    if (client === sluice.value) note(error);
    throw error;
  } finally {
    if (client === sluice.value) rateLimit.value = client.rateLimit;
  }
}

/** Ends the session with all that was known by its key, and begins one with this key, if there is any. */
export function beginSession(key: string | null): void {
  session = Symbol('session');
  clearTimeout(nextProbe);
  batch(() => {
    apiKey.value = key;
    pause.value = null;
    rateLimit.value = null;
    outage.value = null;
  });
}

/** @param sentence says why, where visitors sign in */
export function endSession(sentence: string): void {
  beginSession(null);
  notice.value = sentence;
}

export async function lookAgain(): Promise<void> {
  await call(async (client) => kind?.probe(client)).catch((error: unknown) => {
    if (isForeign(error)) leave(error);
  });
}

function note(error: unknown): void {
  if (isKeyRefused(error)) kind?.onRefused();
  else if (error instanceof RateLimitError) holdBack(error);
  else if (error instanceof ConnectionError || isApiAway(error)) leave(error);
  // It may concern this request only: the next one decides.
  else if (isForeign(error)) probeIn(0);
  else back();
}

/** Whether a proxy, or anything else in front of Sluice, has responded in its place. */
export function isForeign(error: unknown): error is SluiceError {
  return error instanceof SluiceError && error.code === 'unexpected_response';
}

/** A proxy that asks for a sign-in of its own says nothing about the key. */
export function isKeyRefused(error: unknown): boolean {
  return error instanceof AuthenticationError && !isForeign(error);
}

/** How long a refusal asks to wait. */
export const holdMs = ({ retryAfter }: SluiceError): number => Math.min((retryAfter ?? 1) * 1_000, LONGEST_HOLD_MS);

function holdBack(error: RateLimitError): void {
  const milliseconds = holdMs(error);
  const held: Pause = { until: Date.now() + milliseconds, error };
  pause.value = held;
  setTimeout(() => {
    if (pause.value !== held) return;
    pause.value = null;
    revival.value++;
  }, milliseconds + 250);
}

function isApiAway(error: unknown): error is ServerError {
  return kind?.outlivesApi === true && error instanceof ServerError && error.code === 'unavailable';
}

/** Probes until the API responds, with any status. */
function leave(error: SluiceError): void {
  outage.value = error;
  probeIn(PROBE_MS);
}

function probeIn(milliseconds: number): void {
  clearTimeout(nextProbe);
  nextProbe = setTimeout(() => void probe(), milliseconds);
}

async function probe(): Promise<void> {
  await lookAgain();
  // Nothing is sent during a pause.
  if (outage.value !== null) leave(outage.value);
}

function back(): void {
  if (outage.value === null) return;
  outage.value = null;
  clearTimeout(nextProbe);
  revival.value++;
}
