/**
 * Options of an LRUCache for at most so many entries. With its option `max` it allocates the memory for all of them at
 * once: the large caches of a process would take 0.1 s of its start.
 */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
