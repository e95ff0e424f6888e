import type { DeliveryResult } from '../endpoint-deliveries.js';
import { attemptBytes } from './attempt-bytes.js';

const attempt = (failures: number, responseBody: string | null, error: string | null = null) =>
  attemptBytes({ delivery: { failures }, error, responseBody } as DeliveryResult);

describe('attemptBytes', () => {
  it.each([
    ['a first attempt without a response', 0, null, null, 0],
    ['a first attempt with a short response', 0, 'x'.repeat(500), null, 0],
    ['a first attempt with a KiB', 0, 'x'.repeat(1_024), null, 512],
    ['a further attempt', 1, null, null, 256],
    ['a further attempt with a KiB', 9, 'x'.repeat(1_024), null, 1_280],
    ['a further attempt with a reason', 1, '', 'The receiver returned 500.', 282],
    ['characters of several bytes', 1, '💌', null, 260],
  ])('counts %s', (_what, failures, body, error, bytes) => {
    expect(attempt(failures, body, error)).toBe(bytes);
  });

  it('counts about what ten failed attempts with a KiB each take', () => {
    const all = Array.from({ length: 10 }, (_, failures) => attempt(failures, 'x'.repeat(1_024)));
    expect(all.reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(10 * 1_024);
  });
});
