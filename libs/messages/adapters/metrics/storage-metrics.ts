import type { Count, Metrics } from '#platform/management/metrics.js';

/** Requests that are refused because their account is full. */
export function countStorageRefusals(metrics: Metrics): Count {
  return metrics.counter(
    'sluice_storage_refusals_total',
    'Requests that were refused because their account has stored as much as it may',
  );
}
