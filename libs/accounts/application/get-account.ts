import { accountNotFound, type Account } from '../domain/account.js';
import type { Accounts } from './accounts.js';

export class GetAccount {
  constructor(private readonly accounts: Accounts) {}

  /** @throws DomainError `account_not_found` */
  async execute(id: string): Promise<Account> {
    const account = await this.accounts.find(id);
    if (account === null) throw accountNotFound();
    return account;
  }
}
