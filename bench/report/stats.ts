/** A figure over several rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** @returns NaN for each figure if there are no values */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
  return { median, min: sorted[0] ?? NaN, max: sorted.at(-1) ?? NaN };
}

/**
 * How a figure of some samples relates to that of others, round by round: what changed the machine in a round changed both.
 * @returns NaN for each round that the others do not have
 */
export function ratios<Sample extends { readonly round: number }>(
  some: readonly Sample[],
  others: readonly Sample[],
  figureOf: (sample: Sample) => number,
): number[] {
  return some.map((sample) => {
    const other = others.find(({ round }) => round === sample.round);
    return figureOf(sample) / (other === undefined ? NaN : figureOf(other));
  });
}

/** The smallest value that a share of all values does not exceed; NaN if there are none. @param sorted ascending */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}
