import { Module, type DynamicModule } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import { Clock } from '#kernel/clock.js';
import { Availability, ExpiredLeases, Leases, Messages, type MessagesSettings } from '#messages/index.js';
import { Metrics } from '#platform/observability/metrics.js';
import { provide, provideSetting } from '#platform/process/provide.js';
import { LeasesController } from './adapters/http/leases.controller.js';
import { LeaseMetrics } from './adapters/monitoring/lease-metrics.js';
import { EndLeases } from './application/end-leases.js';
import { EndExpiredLeases } from './application/end-expired-leases.js';
import { LeaseMessages } from './application/lease-messages.js';
import { WaitingLeases } from './application/waiting-leases.js';

/** What processes look up. */
export { WaitingLeases };

const RETRIES = Symbol('retries of rejected messages');

const core = [provide(LeaseMetrics, [Metrics]), provide(EndExpiredLeases, [ExpiredLeases, LeaseMetrics])];

const useCases = [
  provideSetting(RETRIES, ({ retries }: MessagesSettings) => retries),
  provide(WaitingLeases, [Availability, LeaseMetrics]),
  provide(LeaseMessages, [Leases, WaitingLeases, LeaseMetrics, Activity]),
  provide(EndLeases, [Leases, Messages, Availability, RETRIES, Clock, LeaseMetrics]),
];

@Module({})
export class PullModule {
  /**
   * Leases messages over HTTP.
   * @param messages the module that exports `Leases`
   */
  static forApi(messages: DynamicModule): DynamicModule {
    return {
      module: PullModule,
      imports: [messages],
      controllers: [LeasesController],
      providers: [...core, ...useCases],
      exports: [EndExpiredLeases],
    };
  }

  /** @param messages the module that exports `ExpiredLeases` */
  static forWorker(messages: DynamicModule): DynamicModule {
    return { module: PullModule, imports: [messages], providers: core, exports: [EndExpiredLeases] };
  }
}
