import { RareWarnings, type Logger } from '#platform/observability/logging.js';
import type { Metrics } from '#platform/observability/metrics.js';
import type { RelayFault, RelayObserver } from '../../application/outbox-relay.js';

const MESSAGES = [1, 2, 5, 10, 25, 50, 100, 250, 500];
const FAULTS: readonly RelayFault[] = ['relay_failed', 'job_refused', 'cleanup_failed', 'sweep_failed'];

export class RelayMonitor implements RelayObserver {
  private readonly sizes;
  private readonly faults;
  private readonly warnings;

  constructor(
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {
    this.sizes = metrics.histogram('sluice_relay_batch_messages', 'Messages added to the queue in one call', MESSAGES);
    this.warnings = new RareWarnings(logger);
    this.faults = metrics.counters('sluice_relay_faults_total', 'Errors between outbox and queue', 'fault', FAULTS);
  }

  watch(backlog: () => { entries: number; bytes: number }): void {
    this.metrics.gauge(
      'sluice_relay_waiting_entries',
      'Outbox entries in memory that wait for the queue',
      () => backlog().entries,
    );
    this.metrics.gauge(
      'sluice_relay_waiting_bytes',
      'Bytes of messages in memory that wait for the queue',
      () => backlog().bytes,
    );
  }

  relayed(messages: number): void {
    this.sizes.observe(messages);
  }

  failed(fault: RelayFault, error: unknown): void {
    this.faults[fault].add();
    // Of a refused job, nothing else is known.
    const log = fault === 'job_refused' ? this.logger : this.warnings;
    log.warn({ err: error }, fault);
  }
}
