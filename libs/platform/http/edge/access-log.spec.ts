import { createLogger } from '../../observability/logging.js';
import { AccessLog, type Status } from './access-log.js';

describe('AccessLog', () => {
  const draws = [0, 0.1, 0.2, 0.5, 0.9, 0.999];
  const wanted = (sample: number, status: Status) => {
    const rest = [...draws];
    const log = new AccessLog(createLogger('silent', 'test'), sample, () => rest.shift() ?? 0);
    return draws.filter(() => log.wants(status)).length;
  };

  it('logs its share of the requests', () => {
    expect([0, 0.15, 0.5, 1].map((sample) => wanted(sample, 200))).toEqual([0, 2, 3, 6]);
  });

  it('logs every request that failed, and no further share of refusals', () => {
    const statuses: Status[] = [500, 503, 507, 429, 404, 'aborted'];
    expect(statuses.map((status) => wanted(0, status))).toEqual([6, 6, 0, 0, 0, 0]);
  });
});
