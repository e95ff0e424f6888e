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
