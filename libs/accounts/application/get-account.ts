import { accountNotFound, type Account } from '../domain/account.js';
import type { Accounts, Actor } from './accounts.js';

export class GetAccount {
  constructor(private readonly accounts: Accounts) {}

  /** @throws DomainError `account_not_found` */
  async execute(id: string, by: Actor): Promise<Account> {
    const account = await this.accounts.find(id, by);
    if (account === null) throw accountNotFound();
    return account;
  }
}
