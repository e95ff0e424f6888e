import { collectDefaultMetrics, Counter, Gauge, Registry, type Histogram } from 'prom-client';
import type { Database } from '../database/database.js';
import { Distribution } from './distribution.js';
import { CachedValue } from './cached-value.js';

/** A counter that costs one addition: prom-client reads it only when the metrics are scraped. */
export class Count {
  value = 0;

  add(count = 1): void {
    this.value += count;
  }
}

/** A gauge that is read from the store, with at most one label. */
interface StoreGauge {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
}

/** By the name of the gauge: its value, or one value per value of its label. A gauge that is null is absent. */
type StoreValues = Readonly<Record<string, number | null | Readonly<Record<string, number>>>>;

/**
 * The metrics of a process, in a separate registry. Names begin with `sluice_` and end with their unit. A label has a
 * small fixed set of values: never an id, a path as it was sent, or a key.
 */
export class Metrics {
  private readonly registry = new Registry();
  private lastStoreRead: Promise<unknown> = Promise.resolve();

  /** @param database for gauges of the store, which are absent without it */
  constructor(private readonly database: Database | null = null) {
    collectDefaultMetrics({ register: this.registry });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** All metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  counter(name: string, help: string): Count {
    const count = new Count();
    this.addCounter(name, help, [], (counter) => {
      counter.inc(count.value);
    });
    return count;
  }

  /** One counter per value of a label, all of them at 0 from the start. */
  counters<Value extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly Value[],
  ): Readonly<Record<Value, Count>> {
    const counts = values.map((value) => [value, new Count()] as const);
    this.addCounter(name, help, [label], (counter) => {
      for (const [value, count] of counts) counter.inc({ [label]: value }, count.value);
    });
    return Object.fromEntries(counts) as Record<Value, Count>;
  }

  /** @param bounds the upper bounds of the buckets, ascending, in the unit of the name */
  histogram(name: string, help: string, bounds: readonly number[]): Distribution {
    return this.histograms(name, help, bounds)({});
  }

  /** @returns a function that adds a histogram with some labels; call it once for the same labels and keep its result */
  histograms(
    name: string,
    help: string,
    bounds: readonly number[],
  ): (labels: Readonly<Record<string, string>>) => Distribution {
    const all: { labels: Readonly<Record<string, string>>; distribution: Distribution }[] = [];
    const get = () => ({
      ...{ name, help, type: 'histogram' },
      values: all.flatMap(({ labels, distribution }) => distribution.samples(name, labels)),
    });
    // prom-client's own histogram takes over a microsecond per value, too much for every request. The registry calls
    // only these two members.
    this.registry.registerMetric({ name, get } as unknown as Histogram);
    return (labels) => {
      const distribution = new Distribution(bounds);
      all.push({ labels, distribution });
      return distribution;
    };
  }

  /** A gauge that is read at each scrape. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      ...{ name, help, registers: [this.registry] },
      async collect() {
        this.set(await read());
      },
    });
  }

  /** One gauge per value of a label. */
  gauges(name: string, help: string, label: string, read: Readonly<Record<string, () => number>>): void {
    new Gauge({
      ...{ name, help, labelNames: [label], registers: [this.registry] },
      collect() {
        for (const [value, number] of Object.entries(read)) this.set({ [label]: value }, number());
      },
    });
  }

  /**
   * Gauges that are read from the store, at most once in `everyMs` milliseconds, however often the metrics are scraped.
   * While the store is unavailable or slow, they are absent.
   */
  storeGauges(
    everyMs: number,
    gauges: readonly StoreGauge[],
    read: (database: Database) => Promise<StoreValues>,
  ): void {
    const { database } = this;
    const cached = new CachedValue<StoreValues | null>(everyMs, async () =>
      database === null ? null : this.oneAtATime(() => read(database)),
    );
    for (const { name, help, label } of gauges) {
      new Gauge({
        ...{ name, help, labelNames: label === undefined ? [] : [label], registers: [this.registry] },
        async collect() {
          const values = (await cached.latest())?.[name] ?? null;
          // `reset` would set a gauge without a label to 0.
          if (label === undefined) this.remove();
          else this.reset();
          if (typeof values === 'number') this.set(values);
          else for (const [value, number] of Object.entries(values ?? {})) this.set({ [label ?? '']: value }, number);
        },
      });
    }
  }

  // One at a time, so that they use a single connection.
  private oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const result = this.lastStoreRead.then(work);
    this.lastStoreRead = result.catch(() => undefined);
    return result;
  }

  private addCounter(name: string, help: string, labelNames: string[], add: (counter: Counter) => void): void {
    new Counter({
      ...{ name, help, labelNames, registers: [this.registry] },
      collect() {
        this.reset();
        add(this);
      },
    });
  }
}
