import { batch, effect, signal } from '@preact/signals';
import { Sluice, type Account, type NewApiKey, type Scope } from '#client/index.js';
import { apiKey, BASE_URL, call, clockAhead, connect, forgetKey, lookAgain, notice } from './connection.js';
import { recall, remember } from './storage.js';
import { listen, tell } from './tabs.js';

const STORED = 'sluice.key';
/** How often a page looks whether its key has expired. */
const EXPIRY_LOOK_MS = 5_000;
const STORED_PROFILE = 'sluice.profile';

export const isSignUpOpen = document.querySelector<HTMLMetaElement>('meta[name=sign-up]')?.content === 'open';

/** What is known of the key: a reload shows it also while requests are refused. */
interface Profile {
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly account: Account | null;
  readonly firstKey: NewApiKey | null;
  readonly expiresAt: string | null;
}

const kept = recall('localStorage', STORED);
connect(recall('sessionStorage', STORED) ?? kept, {
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
export const firstKey = signal<NewApiKey | null>(profile?.firstKey ?? null);
/** When the key expires; null if it does not. */
const expiresAt = signal(profile?.expiresAt ?? null);
/** Whether the browser keeps the key after its last tab is closed. */
export const isKept = signal(kept !== null && apiKey.peek() === kept);

export const can = (scope: Scope): boolean => scopes.value?.has(scope) === true;

/** The new key is kept before anything else can fail: nothing shows it again. */
export async function signUp(name: string): Promise<void> {
  const { apiKey: issued } = await Sluice.signUp({ baseUrl: BASE_URL, maxTries: 1, name });
  firstKey.value = issued;
  enter(issued);
  // Not awaited: the visitor may open another view meanwhile.
  void refreshAccount();
}

/** Signs in by a link to the portal, which works once. */
export async function openLink(token: string, signal?: AbortSignal): Promise<void> {
  const issued = await Sluice.openPortalLink({ baseUrl: BASE_URL, maxTries: 1, token }, { signal });
  isKept.value = false;
  forget('');
  enter(issued);
  await refreshAccount();
}

/** @param keep whether the browser keeps the key after its last tab is closed */
export function keepSignedIn(keep: boolean): void {
  isKept.value = keep;
  if (!keep) remember('localStorage', STORED, null);
  share();
}

function share(): void {
  const key = apiKey.peek();
  if (key !== null && scopes.peek() !== null) tell({ kind: 'key', key, isKept: isKept.peek() });
}

function enter(issued: NewApiKey): void {
  batch(() => {
    apiKey.value = issued.key;
    notice.value = '';
    ownKeyId.value = issued.id;
    scopes.value = new Set(issued.scopes);
    expiresAt.value = issued.expiresAt;
    isResuming.value = false;
  });
  share();
}

/** Goes on with a key that replaces the own one, in all tabs. */
export function switchKey({ key, id }: NewApiKey): void {
  if (apiKey.value !== null) tell({ kind: 'switch', from: apiKey.value, to: key, id });
  apiKey.value = key;
  ownKeyId.value = id;
}

/** Keeps the key if it is valid. */
export async function signIn(key: string, keep = false): Promise<void> {
  apiKey.value = key;
  isKept.value = keep;
  try {
    await findScopes();
  } catch (error) {
    signOut();
    throw error;
  }
  notice.value = '';
  share();
}

/** Signs out in all tabs. */
export function signOut(sentence = ''): void {
  const key = apiKey.peek();
  forget(sentence);
  isKept.value = false;
  if (key !== null) tell({ kind: 'out', key });
}

function forget(sentence: string): void {
  forgetKey(sentence);
  scopes.value = null;
  account.value = null;
  expiresAt.value = null;
  firstKey.value = null;
  isResuming.value = false;
}

async function loadAccount(): Promise<void> {
  account.value = await call((client) => client.account.get());
}

/** Without it, only names are missing. */
async function refreshAccount(): Promise<void> {
  if (can('account:manage')) await loadAccount().catch(() => undefined);
}

/** Finds out what the key may do. */
export async function findScopes(): Promise<void> {
  const key = await call((client) => client.account.keys.current());
  if (key.scopes.includes('account:manage')) await loadAccount();
  ownKeyId.value = key.id;
  expiresAt.value = key.expiresAt;
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
  if (isKept.value) remember('localStorage', STORED, key);
  const found: Profile = {
    ...{ keyId: ownKeyId.value, scopes: [...(known ?? [])], account: account.value },
    firstKey: firstKey.value,
    expiresAt: expiresAt.value,
  };
  remember('sessionStorage', STORED_PROFILE, key === null ? null : JSON.stringify(found));
});

// Nothing else may ask for long. A timer for that moment would sleep as long as the device does.
effect(() => {
  if (expiresAt.value === null) return undefined;
  const end = Date.parse(expiresAt.value);
  const timer = setInterval(() => {
    if (end <= Date.now() - clockAhead.peek()) void lookAgain();
  }, EXPIRY_LOOK_MS);
  return () => {
    clearInterval(timer);
  };
});

// Its plan may be another one by now.
if (profile !== null) void refreshAccount();

// A tab without a key takes that of another one, whenever it hears of one.
listen((word) => {
  const key = apiKey.peek();
  switch (word.kind) {
    case 'ask':
      share();
      return;
    case 'key':
      if (key === null) {
        batch(() => {
          apiKey.value = word.key;
          isKept.value = word.isKept;
          isResuming.value = true;
        });
      } else if (key === word.key) {
        isKept.value = word.isKept;
      }
      return;
    case 'switch':
      if (key === word.from) {
        apiKey.value = word.to;
        ownKeyId.value = word.id;
      }
      return;
    case 'out':
      // A first key that is not stored yet would be lost.
      if (key === word.key && firstKey.peek() === null) signOut('You are signed out.');
  }
});
if (apiKey.peek() === null) tell({ kind: 'ask' });
