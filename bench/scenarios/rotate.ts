/** Rotates the order in each round, so that no target always follows the same one. */
export function rotate<T>(list: readonly T[], by: number): T[] {
  return list.map((_, index) => list[(index + by) % list.length] as T);
}
