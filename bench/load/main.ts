/** A load generator process: receives a Load and sends back a GeneratorResult. */
import type { Load } from './request.js';
import { LoadGenerator } from './load-generator.js';

process.once('message', (load: Load) => {
  const run = new LoadGenerator(load).run((word) => process.send?.(word));
  void run.then((result) => process.send?.(result));
});
// The parent disconnects when it has the result: an exit may be noticed before a message that was sent earlier.
process.once('disconnect', () => process.exit());
process.send?.('ready');
