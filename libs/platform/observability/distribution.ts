/** A histogram. Observing a value costs a few comparisons and allocates nothing. */
export class Distribution {
  private readonly counts: number[];
  private sum = 0;
  private count = 0;

  /** @param bounds upper bounds of the buckets, ascending */
  constructor(private readonly bounds: readonly number[]) {
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    const { bounds } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket++;
    if (bucket < bounds.length) this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
    this.count++;
  }

  /** Cumulative buckets, as Prometheus expects them. */
  samples(name: string, labels: Readonly<Record<string, string>>) {
    let below = 0;
    const bucket = (le: number | '+Inf', value: number) => ({
      metricName: `${name}_bucket`,
      labels: { le, ...labels },
      value,
    });
    return [
      ...this.bounds.map((bound, index) => bucket(bound, (below += this.counts[index] ?? 0))),
      bucket('+Inf', this.count),
      { metricName: `${name}_sum`, labels, value: this.sum },
      { metricName: `${name}_count`, labels, value: this.count },
    ];
  }
}
