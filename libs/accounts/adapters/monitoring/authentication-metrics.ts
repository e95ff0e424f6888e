import type { Metrics } from '#platform/observability/metrics.js';
import { AUTHENTICATION_OUTCOMES, type Authenticated } from '../../application/authenticate-caller.js';

/** Counts requests by the outcome of their authentication. */
export function countAuthentications(metrics: Metrics): Authenticated {
  const help = 'Requests by the outcome of their authentication';
  const counts = metrics.counters('sluice_authentications_total', help, 'outcome', AUTHENTICATION_OUTCOMES);
  return (outcome) => {
    counts[outcome].add();
  };
}
