import { signal } from '@preact/signals';
import type { Account, AccountChanges } from '#client/index.js';
import { ordered } from '../loading/ordered.js';
import { call } from './connection.js';

/** Null without the scope `account:manage`. */
export const account = signal<Account | null>(null);

const getAccount = () => call((client) => client.account.get());
const settle = ordered<Account>((state) => (account.value = state), getAccount);

export function loadAccount(): Promise<Account> {
  return settle(getAccount);
}

export function changeAccount(changes: AccountChanges): Promise<Account> {
  return settle(() => call((client) => client.account.update(changes)));
}

/** Loads this together with the account, which others may have changed. */
export async function withAccount<T>(load: () => Promise<T>): Promise<T> {
  const [loaded] = await Promise.all([load(), loadAccount()]);
  return loaded;
}
