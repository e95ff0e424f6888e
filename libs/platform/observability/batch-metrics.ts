import type { BatchObserver } from '../concurrency/batcher.js';
import type { Metrics } from './metrics.js';

const ITEMS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000];

/** Metrics of group commits: items per statement, and what waits for the next one. */
export class BatchMetrics {
  private readonly sizes;
  private readonly items: Record<string, () => number> = {};
  private readonly bytes: Record<string, () => number> = {};
  private readonly seconds: Record<string, () => number> = {};

  constructor(metrics: Metrics) {
    this.sizes = metrics.histograms('sluice_batch_items', 'Items sent to the database in one statement', ITEMS);
    const label = 'batches';
    metrics.gauges('sluice_batch_waiting_items', 'Items in memory that wait for the next statement', label, this.items);
    metrics.gauges('sluice_batch_waiting_bytes', 'Bytes in memory that wait for the next statement', label, this.bytes);
    const name = 'sluice_batch_waiting_seconds';
    metrics.gauges(name, 'Age of the oldest item that waits for the next statement', label, this.seconds);
  }

  /** @param batches the value of the label, unique in this process */
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
