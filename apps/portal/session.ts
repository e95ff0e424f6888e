import { computed, effect, signal } from '@preact/signals';
import {
  AuthenticationError,
  ConnectionError,
  RateLimitError,
  Sluice,
  type Account,
  type NewApiKey,
  type RateLimit,
  type Scope,
} from '#client/index.js';
import { recall, remember } from './storage.js';

const STORED = 'sluice.key';
const STORED_PROFILE = 'sluice.profile';
/** How long after a failed request the portal looks whether the API is back. */
const PROBE_MS = 3_000;
/** Until when requests are refused. */
export interface Pause {
  readonly until: number;
  readonly error: RateLimitError;
}

export const SCOPES: readonly Scope[] = ['messages:send', 'messages:read', 'messages:consume', 'account:manage'];
export const BASE_URL = location.origin;
export const isSignUpOpen = document.querySelector<HTMLMetaElement>('meta[name=sign-up]')?.content === 'open';

/** The key is in the memory of this tab and survives a reload, but is in no URL, cookie or other tab. */
export const apiKey = signal(recall('sessionStorage', STORED));

/** What is known of the key: a reload shows it also while requests are refused. */
interface Profile {
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly account: Account | null;
}

const profile = JSON.parse(recall('sessionStorage', STORED_PROFILE) ?? 'null') as Profile | null;

/** A sentence for the page where visitors sign in: why they are there. */
export const notice = signal('');
/** What the key may do; null until that is known. */
export const scopes = signal<ReadonlySet<Scope> | null>(profile && new Set(profile.scopes));
export const ownKeyId = signal(profile?.keyId ?? '');
/** Null without the scope `account:manage`. */
export const account = signal(profile?.account ?? null);
/** Whether the tab was reloaded, and what its key may do is not known yet. */
export const isResuming = signal(apiKey.peek() !== null && profile === null);
export const pause = signal<Pause | null>(null);
export const isAway = signal(false);
export const rateLimit = signal<RateLimit | null>(null);
/** Changes when requests can succeed again: after an outage or a pause. */
export const revival = signal(0);
/** The first key of an account that was created here, until the visitor has stored it. */
export const firstKey = signal<NewApiKey | null>(null);

/** What nothing shows again. */
export interface Issued {
  /** Like "The key is created". */
  readonly title: string;
  readonly what: 'API key' | 'signing secret';
  readonly secret: string;
  readonly hint?: string | undefined;
}

/** A later key or secret, until the visitor has stored it. */
export const issued = signal<Issued | null>(null);

export const sluice = computed(() =>
  // The portal shows an error instead of waiting for it to pass.
  apiKey.value === null ? null : new Sluice({ apiKey: apiKey.value, baseUrl: BASE_URL, maxTries: 1 }),
);

export const can = (scope: Scope): boolean => scopes.value?.has(scope) === true;

/** Every call of the API goes through here, so that what concerns all views is noticed once. */
export async function call<T>(work: (client: Sluice) => Promise<T>): Promise<T> {
  const client = sluice.value;
  if (client === null) throw new Error('Nobody is signed in.');
  if (pause.value !== null) throw pause.value.error;
  try {
    const result = await work(client);
    back();
    return result;
  } catch (error) {
    // The key may have been replaced meanwhile.
    if (client === sluice.value) note(error);
    throw error;
  } finally {
    if (client === sluice.value) rateLimit.value = client.rateLimit;
  }
}

/** The new key is kept before anything else can fail: nothing shows it again. */
export async function signUp(name: string): Promise<void> {
  const { apiKey: issued } = await Sluice.signUp({ baseUrl: BASE_URL, maxTries: 1, name });
  firstKey.value = issued;
  apiKey.value = issued.key;
  notice.value = '';
  ownKeyId.value = issued.id;
  scopes.value = new Set(issued.scopes);
  await loadAccount().catch(() => undefined);
}

/** Goes on with a key that replaces the own one. */
export function switchKey(issued: NewApiKey): void {
  apiKey.value = issued.key;
  ownKeyId.value = issued.id;
}

/** Keeps the key if it is valid. */
export async function signIn(key: string): Promise<void> {
  apiKey.value = key;
  try {
    await findScopes();
  } catch (error) {
    signOut();
    throw error;
  }
  notice.value = '';
}

export function signOut(sentence = ''): void {
  apiKey.value = null;
  scopes.value = null;
  account.value = null;
  pause.value = null;
  rateLimit.value = null;
  firstKey.value = null;
  isAway.value = false;
  isResuming.value = false;
  notice.value = sentence;
}

export async function loadAccount(): Promise<void> {
  account.value = await call((client) => client.account.get());
}

/** Finds out what the key may do. */
export async function findScopes(): Promise<void> {
  const key = await call((client) => client.account.keys.current());
  if (key.scopes.includes('account:manage')) await loadAccount();
  ownKeyId.value = key.id;
  scopes.value = new Set(key.scopes);
  isResuming.value = false;
}

function note(error: unknown): void {
  if (error instanceof AuthenticationError && (scopes.value !== null || isResuming.value)) {
    signOut('Your API key no longer works: it was revoked or has expired. Sign in with another one.');
  } else if (error instanceof RateLimitError) {
    holdBack(error);
  } else if (error instanceof ConnectionError) {
    leave();
  } else {
    back();
  }
}

function holdBack(error: RateLimitError): void {
  const milliseconds = (error.retryAfter ?? 1) * 1_000;
  const held: Pause = { until: Date.now() + milliseconds, error };
  pause.value = held;
  setTimeout(() => {
    if (pause.value !== held) return;
    pause.value = null;
    revival.value++;
  }, milliseconds + 250);
}

function leave(): void {
  if (isAway.value) return;
  isAway.value = true;
  void probe();
}

/** Until the API responds, whatever it responds. */
async function probe(): Promise<void> {
  while (isAway.value && apiKey.value !== null) {
    await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
    await lookAgain();
  }
}

export async function lookAgain(): Promise<void> {
  await call((client) => client.account.keys.current()).catch(() => undefined);
}

function back(): void {
  if (!isAway.value) return;
  isAway.value = false;
  revival.value++;
}

effect(() => {
  const [key, known] = [apiKey.value, scopes.value];
  // A key is kept once it is known to be valid.
  if (key !== null && known === null) return;
  remember('sessionStorage', STORED, key);
  const found: Profile = { keyId: ownKeyId.value, scopes: [...(known ?? [])], account: account.value };
  remember('sessionStorage', STORED_PROFILE, key === null ? null : JSON.stringify(found));
});

// Its plan may be another one by now.
if (profile !== null && can('account:manage')) loadAccount().catch(() => undefined);
