/** A load generator, in a process of its own: it is sent a Load, and answers with what it Loaded. */
import type { Load } from './request.js';
import { Run } from './run.js';

process.once('message', (load: Load) => {
  const run = new Run(load).run((word) => process.send?.(word));
  void run.then((loaded) => process.send?.(loaded, () => process.exit(0)));
});
process.once('disconnect', () => process.exit(1));
process.send?.('ready');
