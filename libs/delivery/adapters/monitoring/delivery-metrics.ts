import type { Metrics } from '#platform/observability/metrics.js';
import type { DeliveryEnd, DeliveryObserver } from '../../application/deliver-message.js';

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const ENDS: readonly DeliveryEnd[] = ['delivered', 'retried', 'failed', 'lost_claim'];

export class DeliveryMetrics implements DeliveryObserver {
  private readonly ends;
  private readonly durations;

  constructor(metrics: Metrics) {
    this.ends = metrics.counters(
      'sluice_deliveries_total',
      'Attempts to deliver a message, by outcome',
      'outcome',
      ENDS,
    );
    this.durations = metrics.histogram('sluice_handler_duration_seconds', 'Duration of the handler', SECONDS);
  }

  ended(how: DeliveryEnd): void {
    this.ends[how].add();
  }

  handled(ms: number): void {
    this.durations.observe(ms / 1_000);
  }
}
