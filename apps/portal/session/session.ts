import { batch, computed, effect, signal } from '@preact/signals';
import { Sluice, type NewApiKey, type OnceOptions, type Scope } from '#client/index.js';
import { account, loadAccount } from './account.js';
import {
  apiKey,
  BASE_URL,
  beginSession,
  call,
  clockAhead,
  connect,
  endOfSession,
  endSession,
  lookAgain,
  notice,
  SessionEndedError,
} from './connection.js';
import { showFirstKey, withdraw } from './issued.js';
import { isLeft, markLeft } from './left-keys.js';
import { once } from '../loading/once.js';
import { keepProfile, recalledProfile } from './profile.js';
import { recall, remember } from './storage.js';
import { listen, tell } from './tabs.js';

const STORED = 'sluice.key';
/** How often a page looks whether its key has expired. */
const EXPIRY_LOOK_MS = 5_000;

const SIGNED_OUT = 'You are signed out.';

export const isSignUpOpen = document.querySelector<HTMLMetaElement>('meta[name=sign-up]')?.content === 'open';

const kept = recall('localStorage', STORED);
const own = recall('sessionStorage', STORED);
const recalled = recalledProfile();
// A first key that is not stored yet would be lost.
const hasLeft = own !== null && isLeft(own) && !recalled?.firstKey;
if (hasLeft) notice.value = SIGNED_OUT;
connect((hasLeft ? null : own) ?? kept, {
  probe: (client) => client.account.keys.current(),
  onRefused: () => {
    if (isSignedIn() && replacing === 0) refused();
  },
  outlivesApi: false,
  hasErrorPages: true,
});

const profile = hasLeft ? null : recalled;

/** What the key may do; null until that is known. */
export const scopes = signal<ReadonlySet<Scope> | null>(profile && new Set(profile.scopes));
export const ownKeyId = signal(profile?.keyId ?? '');
account.value = profile?.account ?? null;
/** Whether the tab was reloaded, and what its key may do is not known yet. */
export const isResuming = signal(apiKey.peek() !== null && profile === null);
/** The first key of an account that was created here, until the visitor has stored it. */
export const firstKey = signal<NewApiKey | null>(profile?.firstKey ?? null);
/** When the key expires; null if it does not. */
const expiresAt = signal(profile?.expiresAt ?? null);
/** Whether the browser keeps the key after its last tab is closed. */
export const isKept = signal(kept !== null && apiKey.peek() === kept);

/** Changes when a visitor leaves, not when a key is refused: what was composed is no business of the next one. */
export const departures = signal(0);

/** Whether the key is known to be valid, or was when the tab was reloaded. */
const isSignedIn = () => scopes.peek() !== null || isResuming.peek();

export const can = (scope: Scope): boolean => scopes.value?.has(scope) === true;

/** The new key is kept before anything else can fail: nothing shows it again. */
export async function signUp(name: string): Promise<void> {
  const isOver = endOfSession();
  const { apiKey: issued } = await once({ name }, (idempotencyKey) =>
    Sluice.signUp({ baseUrl: BASE_URL, maxTries: 1, name }, { idempotencyKey }),
  );
  if (isOver()) {
    // The session is another one by now, and has no place for it.
    showFirstKey(issued);
    throw new SessionEndedError();
  }
  enter(issued);
  firstKey.value = issued;
  // Not awaited: the visitor may open another view meanwhile.
  void refreshAccount();
}

/** Signs in by a link to the portal, which works once. */
export async function openLink(token: string, signal?: AbortSignal): Promise<void> {
  const issued = await Sluice.openPortalLink({ baseUrl: BASE_URL, maxTries: 1, token }, { signal });
  leave('');
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
    begin(issued.key);
    notice.value = '';
    ownKeyId.value = issued.id;
    scopes.value = new Set(issued.scopes);
    expiresAt.value = issued.expiresAt;
    isResuming.value = false;
  });
  share();
}

function begin(key: string, keep = false): void {
  refusal = null;
  batch(() => {
    beginSession(key);
    isKept.value = keep;
  });
}

/** With the key of another tab. */
function resume(key: string, keep: boolean): void {
  batch(() => {
    begin(key, keep);
    notice.value = '';
    isResuming.value = true;
  });
}

/** How many responses are on their way that replace the own key: it may be refused before they arrive. */
let replacing = 0;

/** Rotates a key. If that is the own one, all tabs go on with the new one. */
export async function rotateKey(id: string, graceSeconds: number, options?: OnceOptions): Promise<NewApiKey> {
  const isOwn = () => id === ownKeyId.peek();
  const replaced = isOwn() ? 1 : 0;
  replacing += replaced;
  try {
    const rotated = await call((client) => client.account.keys.rotate(id, { graceSeconds }, options));
    if (isOwn()) switchKey(rotated);
    return rotated;
  } finally {
    replacing -= replaced;
  }
}

function switchKey({ key, id }: NewApiKey): void {
  const from = apiKey.value;
  if (from !== null) {
    markLeft(from, true);
    tell({ kind: 'switch', from, to: key, id });
  }
  goOnWith(key, id);
}

/** A first key that was replaced works no more, or soon: the next one is shown where it was made. */
function goOnWith(key: string, id: string): void {
  batch(() => {
    apiKey.value = key;
    ownKeyId.value = id;
    firstKey.value = null;
  });
}

/** Keeps the key if it is valid. */
export async function signIn(key: string, keep = false): Promise<void> {
  begin(key, keep);
  try {
    await findScopes();
  } catch (error) {
    if (!(error instanceof SessionEndedError)) end('');
    throw error;
  }
  notice.value = '';
  markLeft(key, false);
  share();
}

/** Signs out in all tabs, and ends the sign-in that the browser keeps, also if that is another one. */
export function signOut(sentence = ''): void {
  const keys = new Set([apiKey.peek(), recall('localStorage', STORED)]);
  remember('localStorage', STORED, null);
  leave(sentence);
  for (const key of keys) {
    if (key === null) continue;
    markLeft(key, true);
    tell({ kind: 'out', key, isRefused: false });
  }
}

/** The key that was refused last, while nobody has signed in or out since: another tab may just be replacing it. */
let refusal: { readonly key: string; readonly isKept: boolean } | null = null;

function refused(): void {
  const [key, keep] = [apiKey.peek(), isKept.peek()];
  if (keep) remember('localStorage', STORED, null);
  end('Your API key no longer works: it was revoked or has expired. Sign in with another one.');
  if (key === null) return;
  refusal = { key, isKept: keep };
  tell({ kind: 'out', key, isRefused: true });
}

function leave(sentence: string): void {
  end(sentence);
  departures.value++;
}

function end(sentence: string): void {
  refusal = null;
  if (firstKey.value !== null) showFirstKey(firstKey.value);
  batch(() => {
    endSession(sentence);
    scopes.value = null;
    account.value = null;
    expiresAt.value = null;
    firstKey.value = null;
    isResuming.value = false;
    isKept.value = false;
  });
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

effect(() => {
  const [key, known] = [apiKey.value, scopes.value];
  // A key is kept once it is known to be valid.
  if (key !== null && known === null) return;
  remember('sessionStorage', STORED, key);
  const found = {
    ...{ keyId: ownKeyId.value, scopes: [...(known ?? [])], account: account.value },
    firstKey: firstKey.value,
    expiresAt: expiresAt.value,
  };
  keepProfile(key === null ? null : found);
});

const isKnown = computed(() => scopes.value !== null);
// By itself: what else changes must not bring back a key that another tab has removed.
effect(() => {
  if (isKept.value && isKnown.value) remember('localStorage', STORED, apiKey.value);
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
      if (key === null) resume(word.key, word.isKept);
      else if (key === word.key) isKept.value = word.isKept;
      // The browser keeps one.
      else if (word.isKept) isKept.value = false;
      return;
    case 'switch':
      if (key === word.from) goOnWith(word.to, word.id);
      else if (refusal?.key === word.from) {
        withdraw(word.from);
        resume(word.to, refusal.isKept);
      }
      return;
    case 'out':
      if (key !== word.key || !isSignedIn()) return;
      if (!word.isRefused) isKept.value = false;
      if (firstKey.peek() !== null || replacing > 0) return;
      if (word.isRefused) refused();
      else leave(SIGNED_OUT);
  }
});

// A page that the browser has kept as it was has heard nothing, either.
addEventListener('pageshow', ({ persisted }) => {
  const key = apiKey.peek();
  if (!persisted || key === null || firstKey.peek() !== null || !isLeft(key)) return;
  leave(SIGNED_OUT);
  tell({ kind: 'ask' });
});
if (apiKey.peek() === null) tell({ kind: 'ask' });
