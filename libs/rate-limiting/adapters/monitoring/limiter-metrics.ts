import type { Backpressure } from '#platform/concurrency/backpressure.js';
import { observers, type BatchObserver } from '#platform/concurrency/batcher.js';
import type { BatchMetrics } from '#platform/observability/batch-metrics.js';
import type { Metrics } from '#platform/observability/metrics.js';
import { DECISIONS, type Decision } from '../../application/decisions.js';

/** Counts the decisions of the limiter. */
export function countDecisions(metrics: Metrics): (decision: Decision) => void {
  const counts = metrics.counters(
    'sluice_limiter_decisions_total',
    'Requests by the decision of the limiter',
    'decision',
    DECISIONS,
  );
  return (decision) => {
    counts[decision].add();
  };
}

/** Measures the batches in which hits are decided. */
export function observeHits(batches: BatchMetrics, backpressure: Backpressure): BatchObserver {
  return observers(batches.observer('hits'), backpressure.observer('count'));
}
