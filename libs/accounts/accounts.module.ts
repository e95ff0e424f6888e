import { Module } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { Database } from '#platform/database/database.js';
import { SETTINGS } from '#platform/platform.module.js';
import type { Settings } from '#platform/settings.js';
import { AccountsController, SignupPolicy } from './adapters/http/accounts.controller.js';
import { PostgresAccounts } from './adapters/postgres/postgres-accounts.js';
import { Accounts } from './application/accounts.js';
import { AuthenticateCaller } from './application/authenticate-caller.js';
import { KeySecrets } from './application/key-secrets.js';
import { SignUp } from './application/sign-up.js';

@Module({
  controllers: [AccountsController],
  providers: [
    { provide: Accounts, useFactory: (database: Database) => new PostgresAccounts(database), inject: [Database] },
    {
      provide: KeySecrets,
      useFactory: ({ apiKeyPepper }: Settings) => new KeySecrets(apiKeyPepper),
      inject: [SETTINGS],
    },
    {
      provide: SignupPolicy,
      useFactory: ({ signup }: Settings) => new SignupPolicy(signup === 'open'),
      inject: [SETTINGS],
    },
    {
      provide: AuthenticateCaller,
      useFactory: (accounts: Accounts, secrets: KeySecrets, clock: Clock) =>
        new AuthenticateCaller(accounts, secrets, clock),
      inject: [Accounts, KeySecrets, Clock],
    },
    {
      provide: SignUp,
      useFactory: (accounts: Accounts, secrets: KeySecrets, ids: Ids, clock: Clock) =>
        new SignUp(accounts, secrets, ids, clock),
      inject: [Accounts, KeySecrets, Ids, Clock],
    },
  ],
  exports: [AuthenticateCaller, SignUp],
})
export class AccountsModule {}
