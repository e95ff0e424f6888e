import type { Metrics } from '#platform/observability/metrics.js';
import type { LeaseObserver } from '../../application/lease-messages.js';
import type { WaitingObserver } from '../../application/waiting-leases.js';

/** What becomes of leases; `lost`: it had expired when it was to be ended or extended. */
const EVENTS = ['leased', 'acknowledged', 'rejected', 'expired', 'lost'] as const;

export class LeaseMetrics implements LeaseObserver, WaitingObserver {
  private readonly events;

  constructor(private readonly metrics: Metrics) {
    this.events = metrics.counters(
      'sluice_leases_total',
      'Leases of messages, by what became of them',
      'event',
      EVENTS,
    );
  }

  watch(waiting: () => number): void {
    this.metrics.gauge('sluice_leases_waiting', 'Requests that wait for messages to lease', waiting);
  }

  leased(messages: number): void {
    this.events.leased.add(messages);
  }

  acknowledged(messages: number): void {
    this.events.acknowledged.add(messages);
  }

  rejected(): void {
    this.events.rejected.add();
  }

  expired(leases: number): void {
    this.events.expired.add(leases);
  }

  lost(leases: number): void {
    this.events.lost.add(leases);
  }
}
