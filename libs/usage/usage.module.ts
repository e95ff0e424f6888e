import { Module, type DynamicModule } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import { Database } from '#platform/database/database.js';
import { ReadsModule } from '#platform/database/reads.module.js';
import { Reads } from '#platform/database/reads.js';
import { LOGGER } from '#platform/process/platform.module.js';
import { provide, provideAs, provideSetting } from '#platform/process/provide.js';
import { AdminUsageController } from './adapters/http/admin-usage.controller.js';
import { UsageHistoryController } from './adapters/http/usage-history.controller.js';
import { UsageMonitor } from './adapters/monitoring/usage-monitor.js';
import { PostgresUsageHistory } from './adapters/postgres/postgres-usage-history.js';
import { PostgresUsageLedger } from './adapters/postgres/postgres-usage-ledger.js';
import { CountUsage } from './application/count-usage.js';
import { ForgetUsage } from './application/forget-usage.js';
import { ReadUsageHistory } from './application/read-usage-history.js';
import { SettleUsage } from './application/settle-usage.js';
import { UsageHistory } from './application/usage-history.js';
import { UsageLedger } from './application/usage-ledger.js';
import type { UsageSettings } from './settings.js';

/** What the process starts and stops. */
export { CountUsage, ForgetUsage };

const DAYS = Symbol('days for which usage is kept');

const counting = [
  // As long as its messages can be looked at, what an hour has sent can be as well.
  provideSetting(DAYS, ({ usageDays, retentionDays }: UsageSettings & { readonly retentionDays: number }) =>
    Math.max(usageDays, retentionDays),
  ),
  provide(UsageMonitor, [LOGGER]),
  provideAs(UsageLedger, PostgresUsageLedger, [Database]),
  provide(CountUsage, [UsageLedger, DAYS, UsageMonitor, Activity]),
  provide(SettleUsage, [UsageLedger, CountUsage]),
];

/** Counts what accounts send, and shows it to them and to operators. */
@Module({})
export class UsageModule {
  /** @param operators whether the operators have a key, without which their routes do not exist */
  static forApi(operators: boolean): DynamicModule {
    return {
      module: UsageModule,
      imports: [ReadsModule],
      controllers: [UsageHistoryController, ...(operators ? [AdminUsageController] : [])],
      providers: [
        ...counting,
        provideAs(UsageHistory, PostgresUsageHistory, [Reads]),
        provide(ReadUsageHistory, [UsageHistory]),
        provide(ForgetUsage, [UsageLedger, CountUsage]),
      ],
      exports: [SettleUsage],
    };
  }

  static forWorker(): DynamicModule {
    return { module: UsageModule, providers: counting, exports: [SettleUsage] };
  }
}
