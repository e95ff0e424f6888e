import { type Provider } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import { Backpressure } from '#platform/concurrency/backpressure.js';
import { Database } from '#platform/database/database.js';
import { Reads } from '#platform/database/reads.js';
import { BatchMetrics } from '#platform/observability/batch-metrics.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER, SETTINGS } from '#platform/process/platform.module.js';
import { provide, provideAs, provideSetting } from '#platform/process/provide.js';
import { StorageMonitor } from './adapters/monitoring/storage-monitor.js';
import { PostgresAvailability } from './adapters/postgres/postgres-availability.js';
import { PostgresDeliveries } from './adapters/postgres/claims/postgres-deliveries.js';
import { PostgresExpiredLeases } from './adapters/postgres/leases/postgres-expired-leases.js';
import { PostgresStuckKeys } from './adapters/postgres/order/postgres-stuck-keys.js';
import { Releases } from './adapters/postgres/order/releases.js';
import { PostgresMessages } from './adapters/postgres/postgres-messages.js';
import { PostgresStorageLedger } from './adapters/postgres/storage/postgres-storage-ledger.js';
import { PostgresSpace } from './adapters/postgres/storage/postgres-space.js';
import { Availability } from './application/delivering/availability.js';
import { Deliveries } from './application/delivering/deliveries.js';
import { ExpiredLeases } from './application/delivering/expired-leases.js';
import { JobDispatch } from './application/delivering/job-dispatch.js';
import { Messages } from './application/messages.js';
import { StuckKeys } from './application/delivering/stuck-keys.js';
import { Space, SpaceWatch } from './application/storage/space-watch.js';
import { StorageCap } from './application/storage/storage-cap.js';
import { StorageLedger } from './application/storage/storage-ledger.js';
import type { MessagesSettings } from './settings.js';

export const RETRIES = Symbol('retries of failed attempts');
export const STORAGE_LIMITS = Symbol('limits of storage');
const SPACE_LIMITS = Symbol('limits of space');

/** What stores messages, in every process. */
export const store: Provider[] = [
  provideSetting(RETRIES, ({ retries }: MessagesSettings) => retries),
  provideSetting(STORAGE_LIMITS, ({ maxStoredMb }: MessagesSettings) => maxStoredMb),
  provide(StorageMonitor, [Metrics, LOGGER]),
  provide(PostgresAvailability, [Database, SETTINGS, Activity]),
  { provide: Availability, useExisting: PostgresAvailability },
  provideAs(ExpiredLeases, PostgresExpiredLeases, [Database, RETRIES, Availability]),
  provide(Releases, [Database, JobDispatch, Availability]),
  provideAs(StuckKeys, PostgresStuckKeys, [Database, Releases]),
  provide(PostgresMessages, [Database, Reads, JobDispatch, Availability, Releases, BatchMetrics, Backpressure]),
  { provide: Messages, useExisting: PostgresMessages },
  provideAs(Deliveries, PostgresDeliveries, [Database, Releases, BatchMetrics]),
  provideAs(StorageLedger, PostgresStorageLedger, [Database]),
  provideSetting(SPACE_LIMITS, ({ space }: MessagesSettings) => space),
  provideAs(Space, PostgresSpace, [Database, SPACE_LIMITS]),
  provide(SpaceWatch, [Space, StorageMonitor]),
  provide(StorageCap, [StorageLedger, STORAGE_LIMITS, SpaceWatch, StorageMonitor]),
];

/** What of it other contexts and processes may use. */
export const PUBLISHED = [Availability, ExpiredLeases, Messages, Deliveries, StorageCap, StuckKeys];
