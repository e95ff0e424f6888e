import type { Metrics } from '#platform/observability/metrics.js';

/** Connections to endpoints, as the process counts them. */
export function measureConnections(metrics: Metrics, counts: () => Readonly<Record<'busy' | 'idle', number>>): void {
  metrics.gauges('sluice_webhook_connections', 'Open connections to endpoints, by state', 'state', {
    busy: () => counts().busy,
    idle: () => counts().idle,
  });
}
