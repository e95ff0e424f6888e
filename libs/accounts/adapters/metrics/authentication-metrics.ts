import type { Metrics } from '#platform/management/metrics.js';
import { AUTHENTICATION_OUTCOMES, type Authenticated } from '../../application/authenticate-caller.js';

/** Who calls, as far as can be told. */
export function countAuthentications(metrics: Metrics): Authenticated {
  const help = 'Requests by what came of looking at their API key';
  const counts = metrics.counters('sluice_authentications_total', help, 'outcome', AUTHENTICATION_OUTCOMES);
  return (outcome) => {
    counts[outcome].add();
  };
}
