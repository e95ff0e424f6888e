import type { BatchObserver } from '../batcher.js';
import type { Metrics } from './metrics.js';

const ITEMS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000];

/** How well group commits gather what waits, and how much that is. */
export class BatchMetrics {
  private readonly sizes;
  private readonly items: Record<string, () => number> = {};
  private readonly bytes: Record<string, () => number> = {};

  constructor(metrics: Metrics) {
    this.sizes = metrics.histograms('sluice_batch_items', 'Items that went to the database in one statement', ITEMS);
    const label = 'batches';
    metrics.gauges('sluice_batch_waiting_items', 'Items in memory that wait for the next statement', label, this.items);
    metrics.gauges('sluice_batch_waiting_bytes', 'Bytes in memory that wait for the next statement', label, this.bytes);
  }

  /** For the batches of this name, of which a process has one. */
  observer(batches: string): BatchObserver {
    const size = this.sizes({ batches });
    return {
      watch: ({ items, bytes }) => {
        this.items[batches] = items;
        this.bytes[batches] = bytes;
      },
      ran: (items) => {
        size.observe(items);
      },
    };
  }
}
