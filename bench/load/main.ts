/** A load generator, in a process of its own: it is sent a Load, and responses with what it GeneratorResult. */
import type { Load } from './request.js';
import { LoadGenerator } from './load-generator.js';

process.once('message', (load: Load) => {
  const run = new LoadGenerator(load).run((word) => process.send?.(word));
  void run.then((loaded) => process.send?.(loaded, () => process.exit(0)));
});
process.once('disconnect', () => process.exit(1));
process.send?.('ready');
