import { bundled } from './bundled.js';

it('The client adds at most 7.75 KiB to what a page loads', async () => {
  const { gzippedBytes } = await bundled();
  expect(gzippedBytes).toBeGreaterThan(1_000);
  expect(gzippedBytes).toBeLessThanOrEqual(7.75 * 1_024);
});
