import { effect, signal } from '@preact/signals';
import type { Sluice } from '#client/index.js';
import { apiKey, beginSession, call, connect, endSession, notice, SessionEndedError } from '../session/connection.js';
import { recall, remember } from '../session/storage.js';

const STORED = 'sluice.operators-key';

/** Costs little, and fails if the key is wrong. */
const probe = (client: Sluice) => client.admin.bans.list({ limit: 1 }).page();

connect(recall('sessionStorage', STORED), {
  probe,
  onRefused: () => {
    if (isSignedIn.value) signOut('The key no longer works: the operators’ key was changed. Sign in with the new one.');
  },
  outlivesApi: true,
  hasErrorPages: false,
});

/** A key that was kept is valid, or is refused when the first view loads. */
export const isSignedIn = signal(apiKey.peek() !== null);

/** Keeps the key if it is valid. */
export async function signIn(key: string): Promise<void> {
  beginSession(key);
  try {
    await call(probe);
  } catch (error) {
    if (!(error instanceof SessionEndedError)) endSession('');
    throw error;
  }
  notice.value = '';
  isSignedIn.value = true;
}

export function signOut(sentence: string): void {
  isSignedIn.value = false;
  endSession(sentence);
}

effect(() => {
  remember('sessionStorage', STORED, isSignedIn.value ? apiKey.value : null);
});
