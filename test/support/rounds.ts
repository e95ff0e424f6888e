/** The repetitions of a fault test, and what they measured. */
export class Rounds {
  private readonly measured = new Map<string, number[]>();

  /** Whether this is the long form. */
  readonly long = process.env.FAULT_ROUNDS !== undefined;

  /** The names of the rounds. */
  readonly all = Array.from({ length: Number(process.env.FAULT_ROUNDS ?? 1) }, (_, index) => `round ${index + 1}`);

  /** Runs it once a round. */
  async each(work: () => Promise<void>): Promise<void> {
    for (let left = this.all.length; left > 0; left--) await work();
  }

  note(what: string, ms: number): void {
    this.measured.set(what, [...(this.measured.get(what) ?? []), ms]);
  }

  print(): void {
    for (const [what, all] of this.measured) {
      const sorted = [...all].sort((a, b) => a - b);
      const median = sorted[sorted.length >> 1] ?? 0;
      process.stdout.write(`${what}: ${median} ms, at worst ${sorted.at(-1) ?? 0} ms (${all.length} rounds)\n`);
    }
  }
}
