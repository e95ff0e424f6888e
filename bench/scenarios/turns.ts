/** Each round begins with another one, so that none always comes after the same neighbour. */
export function turned<T>(list: readonly T[], by: number): T[] {
  return list.map((_, index) => list[(index + by) % list.length] as T);
}
