import { collectDefaultMetrics, Counter, Gauge, Registry, type Histogram } from 'prom-client';
import type { Database } from '../database/database.js';
import { Distribution } from './distribution.js';
import { Reading } from './reading.js';

/** Counts something. To count costs an addition: prom-client hears of it when somebody looks. */
export class Count {
  value = 0;

  add(count = 1): void {
    this.value += count;
  }
}

/** A gauge of the store, and what it tells apart if it has a label. */
export interface StoreGauge {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
}

/** Of each gauge by its name its value, or one for each value of its label. What is null is absent. */
export type StoreValues = Readonly<Record<string, number | null | Readonly<Record<string, number>>>>;

/**
 * What a process tells of itself, in a registry of its own. Names begin with `sluice_` and say their unit. A label has few
 * values, which are known beforehand or by the routes: never an id, a path as it was sent, or a key.
 */
export class Metrics {
  private readonly registry = new Registry();
  private storeTurn: Promise<unknown> = Promise.resolve();

  /** @param database where gauges of the store are read; without one they are absent */
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

  /** A counter for each value of a label. They are there, at 0, before anything has happened. */
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

  /** @param bounds of its buckets, ascending, in the unit of the name */
  histogram(name: string, help: string, bounds: readonly number[]): Distribution {
    return this.histograms(name, help, bounds)({});
  }

  /** @returns what adds a histogram with these labels: to be called once for them, its result kept */
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
    // prom-client's own histogram takes over a microsecond for each value, which is too much for each request. The
    // registry needs no more of it than this.
    this.registry.registerMetric({ name, get } as unknown as Histogram);
    return (labels) => {
      const distribution = new Distribution(bounds);
      all.push({ labels, distribution });
      return distribution;
    };
  }

  /** A gauge that is read whenever somebody looks. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      ...{ name, help, registers: [this.registry] },
      async collect() {
        this.set(await read());
      },
    });
  }

  /** The same for each value of a label. */
  gauges(name: string, help: string, label: string, read: Readonly<Record<string, () => number>>): void {
    new Gauge({
      ...{ name, help, labelNames: [label], registers: [this.registry] },
      collect() {
        for (const [value, number] of Object.entries(read)) this.set({ [label]: value }, number());
      },
    });
  }

  /**
   * Gauges for which the store is asked, at most once in `everyMs` milliseconds, however often somebody looks. While
   * it is away or slow they are absent, and everything else is told all the same.
   */
  storeGauges(
    everyMs: number,
    gauges: readonly StoreGauge[],
    read: (database: Database) => Promise<StoreValues>,
  ): void {
    const { database } = this;
    const reading = new Reading<StoreValues | null>(everyMs, async () =>
      database === null ? null : this.inTurn(() => read(database)),
    );
    for (const { name, help, label } of gauges) {
      new Gauge({
        ...{ name, help, labelNames: label === undefined ? [] : [label], registers: [this.registry] },
        async collect() {
          const values = (await reading.latest())?.[name] ?? null;
          // To reset a gauge without a label makes it 0.
          if (label === undefined) this.remove();
          else this.reset();
          if (typeof values === 'number') this.set(values);
          else for (const [value, number] of Object.entries(values ?? {})) this.set({ [label ?? '']: value }, number);
        },
      });
    }
  }

  // One after the other, so that they take a single connection.
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.storeTurn.then(work);
    this.storeTurn = turn.catch(() => undefined);
    return turn;
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
