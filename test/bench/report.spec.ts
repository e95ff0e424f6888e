import { agree, formatFigure, markdown, formatSpread } from '../../bench/report/report.js';
import { percentile, spread } from '../../bench/report/stats.js';

describe('The benchmark report', () => {
  const machine = { cpu: 'a', memory: 'b', kernel: 'c', node: 'd', postgresql: 'e', redis: 'f' };
  const report = { scenario: 'accept', at: '2026-11-21T09:30:00.123Z', machine, options: { rounds: 5 }, figures: [] };

  it('is invalid when counts do not agree', () => {
    const checks = [agree('Sluice', { '202s': 3, rows: 3 }), agree('Sluice', { '202s': 3, rows: 2 })];
    expect(checks.map(({ holds }) => holds)).toEqual([true, false]);
    expect(markdown({ ...report, tables: [], checks })).toContain('- Sluice: 3 202s, 2 rows');
  });

  it('treats an unknown count as a disagreement', () => {
    expect(agree('Sluice', { rows: NaN, jobs: NaN }).holds).toBe(false);
  });

  it('shows the median with the minimum and maximum', () => {
    expect(spread([3, 1, 2, 10])).toEqual({ median: 2.5, min: 1, max: 10 });
    expect(formatSpread(spread([1_234.5, 999, 1_300]))).toBe('1,235 (999–1,300)');
    expect(formatSpread(spread([2]))).toBe('2.00');
  });

  it('rounds to three digits', () => {
    expect([0.012345, 0.5, 12.345, 123.45, 0, NaN].map(formatFigure)).toEqual([
      '0.0123',
      '0.500',
      '12.3',
      '123',
      '0',
      '–',
    ]);
  });

  it('computes percentiles as the smallest value that is not exceeded', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    expect([0.5, 0.99, 0.999].map((share) => percentile(hundred, share))).toEqual([50, 99, 100]);
    expect(percentile([7], 0.5)).toBe(7);
  });
});
