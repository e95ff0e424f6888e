import type { Metrics } from '#platform/management/metrics.js';
import type { OutboxRelay, RelayReport } from '../../application/outbox-relay.js';

const MESSAGES = [1, 2, 5, 10, 25, 50, 100, 250, 500];
const FAULTS: readonly RelayReport['event'][] = ['relay_failed', 'job_refused', 'cleanup_failed', 'sweep_failed'];

/** What goes from the outbox to the queue. */
export class RelayMetrics {
  private readonly sizes;
  private readonly faults;

  constructor(private readonly metrics: Metrics) {
    this.sizes = metrics.histogram(
      'sluice_relay_batch_messages',
      'Messages that went to the queue in one call',
      MESSAGES,
    );
    this.faults = metrics.counters(
      'sluice_relay_faults_total',
      'Faults on the way from outbox to queue',
      'fault',
      FAULTS,
    );
  }

  readonly relayed = (messages: number): void => {
    this.sizes.observe(messages);
  };

  fault(event: RelayReport['event']): void {
    this.faults[event].add();
  }

  watch(relay: OutboxRelay): void {
    this.metrics.gauge(
      'sluice_relay_waiting_entries',
      'Outbox entries in memory that wait for the queue',
      () => relay.backlog.entries,
    );
    this.metrics.gauge(
      'sluice_relay_waiting_bytes',
      'Bytes of messages in memory that wait for the queue',
      () => relay.backlog.bytes,
    );
  }
}
