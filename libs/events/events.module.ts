import { Module, type DynamicModule } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import { Database } from '#platform/database/database.js';
import { ReadsModule } from '#platform/database/reads.module.js';
import { Reads } from '#platform/database/reads.js';
import { Metrics } from '#platform/observability/metrics.js';
import { provide, provideAs } from '#platform/process/provide.js';
import { EventsController } from './adapters/http/events.controller.js';
import { EventMetrics } from './adapters/monitoring/event-metrics.js';
import { ForgetEvents } from './adapters/postgres/forget-events.js';
import { PostgresEventLog } from './adapters/postgres/postgres-event-log.js';
import { PostgresStreamPlaces } from './adapters/postgres/postgres-stream-places.js';
import { EventLog, StreamPlaces } from './application/event-log.js';
import { EventStreams } from './application/event-streams.js';

/** What processes look up. */
export { EventStreams, ForgetEvents };

const log = provideAs(EventLog, PostgresEventLog, [Database, Reads]);

@Module({})
export class EventsModule {
  /** Streams the changes of messages over HTTP. */
  static forApi(): DynamicModule {
    return {
      module: EventsModule,
      imports: [ReadsModule],
      controllers: [EventsController],
      providers: [
        log,
        provideAs(StreamPlaces, PostgresStreamPlaces, [Database]),
        provide(ForgetEvents, [Database]),
        provide(EventMetrics, [Metrics]),
        provide(EventStreams, [EventLog, StreamPlaces, EventMetrics, Activity]),
      ],
      exports: [EventLog],
    };
  }

  static forWorker(): DynamicModule {
    return { module: EventsModule, imports: [ReadsModule], providers: [log], exports: [EventLog] };
  }
}
