import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { Metrics } from './metrics.js';

describe('A histogram', () => {
  it('has exactly the text that prom-client writes', async () => {
    const bounds = [0.5, 1, 2.5];
    const value = fc.oneof(fc.constantFrom(0, ...bounds), fc.double({ min: 0, max: 5, noNaN: true }));
    await fc.assert(
      fc.asyncProperty(fc.array(value), async (values) => {
        const registry = new Registry();
        const theirs = new Histogram({
          ...{ name: 'sluice_x_seconds', help: 'X', buckets: bounds, labelNames: ['route'], registers: [registry] },
        });
        const metrics = new Metrics();
        const ours = metrics.histograms('sluice_x_seconds', 'X', bounds)({ route: '/a"b' });
        theirs.zero({ route: '/a"b' });
        for (const each of values) {
          theirs.observe({ route: '/a"b' }, each);
          ours.observe(each);
        }
        expect(await metrics.text()).toContain((await registry.metrics()).trim());
      }),
      { numRuns: 30 },
    );
  });
});
