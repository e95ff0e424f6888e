import type { BatchObserver } from '../batcher.js';
import type { Metrics } from './metrics.js';

const ITEMS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000];

/** How well group commits gather what waits, and how much that is. */
export class BatchMetrics {
  private readonly sizes;
  private readonly items: Record<string, () => number> = {};
  private readonly bytes: Record<string, () => number> = {};
  private readonly seconds: Record<string, () => number> = {};

  constructor(metrics: Metrics) {
    this.sizes = metrics.histograms('sluice_batch_items', 'Items that went to the database in one statement', ITEMS);
    const label = 'batches';
    metrics.gauges('sluice_batch_waiting_items', 'Items in memory that wait for the next statement', label, this.items);
    metrics.gauges('sluice_batch_waiting_bytes', 'Bytes in memory that wait for the next statement', label, this.bytes);
    const name = 'sluice_batch_waiting_seconds';
    metrics.gauges(name, 'How long the oldest of them has waited', label, this.seconds);
  }

  /** For the batches of this name, of which a process has one. */
  observer(batches: string): BatchObserver {
    const size = this.sizes({ batches });
    return {
      watch: ({ items, bytes, oldestMs }) => {
        this.items[batches] = items;
        this.bytes[batches] = bytes;
        this.seconds[batches] = () => oldestMs() / 1_000;
      },
      ran: (items) => {
        size.observe(items);
      },
    };
  }
}
