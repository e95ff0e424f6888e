import { effect, signal } from '@preact/signals';
import { Sluice, type Account, type NewApiKey, type Scope } from '#client/index.js';
import { apiKey, BASE_URL, call, connect, forgetKey, notice } from './connection.js';
import { recall, remember } from './storage.js';

const STORED = 'sluice.key';
const STORED_PROFILE = 'sluice.profile';

export const SCOPES: readonly Scope[] = ['messages:send', 'messages:read', 'messages:consume', 'account:manage'];
export const isSignUpOpen = document.querySelector<HTMLMetaElement>('meta[name=sign-up]')?.content === 'open';

/** What is known of the key: a reload shows it also while requests are refused. */
interface Profile {
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly account: Account | null;
}

connect(recall('sessionStorage', STORED), {
  probe: (client) => client.account.keys.current(),
  onRefused: () => {
    if (scopes.value === null && !isResuming.value) return;
    signOut('Your API key no longer works: it was revoked or has expired. Sign in with another one.');
  },
  outlivesApi: false,
  hasErrorPages: true,
});

const profile = recalledProfile();

/** What the key may do; null until that is known. */
export const scopes = signal<ReadonlySet<Scope> | null>(profile && new Set(profile.scopes));
export const ownKeyId = signal(profile?.keyId ?? '');
/** Null without the scope `account:manage`. */
export const account = signal(profile?.account ?? null);
/** Whether the tab was reloaded, and what its key may do is not known yet. */
export const isResuming = signal(apiKey.peek() !== null && profile === null);
/** The first key of an account that was created here, until the visitor has stored it. */
export const firstKey = signal<NewApiKey | null>(null);

/** What nothing shows again. */
export interface Issued {
  /** Like "The key is created". */
  readonly title: string;
  readonly what: 'API key' | 'signing secret';
  readonly secret: string;
  readonly hint?: string | undefined;
  /** A program that uses it. */
  readonly snippet?: string | undefined;
}

/** A later key or secret, until the visitor has stored it. */
export const issued = signal<Issued | null>(null);

export const can = (scope: Scope): boolean => scopes.value?.has(scope) === true;

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
  forgetKey(sentence);
  scopes.value = null;
  account.value = null;
  firstKey.value = null;
  isResuming.value = false;
}

async function loadAccount(): Promise<void> {
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

function recalledProfile(): Profile | null {
  try {
    return JSON.parse(recall('sessionStorage', STORED_PROFILE) ?? 'null') as Profile | null;
  } catch {
    return null;
  }
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
