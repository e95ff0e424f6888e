/**
 * Lets equal reads that wait share one. A caller that asks for the same on many connections costs as much as on a few,
 * and none of its requests waits for all others. What a read returns was read after it was asked for.
 */
export class SharedReads {
  private readonly running = new Map<string, Promise<unknown>>();
  private readonly next = new Map<string, Promise<unknown>>();

  /**
   * @param key the same for equal reads, which must include whose they are
   * @param work called once for all that wait, when the one before has ended
   */
  read<T>(key: string, work: () => Promise<T>): Promise<T> {
    const waiting = this.next.get(key);
    if (waiting !== undefined) return waiting as Promise<T>;
    const running = this.running.get(key);
    if (running === undefined) return this.start(key, work);
    const next = running.then(
      () => this.startNext(key, work),
      () => this.startNext(key, work),
    );
    this.next.set(key, next);
    return next;
  }

  private startNext<T>(key: string, work: () => Promise<T>): Promise<T> {
    this.next.delete(key);
    return this.start(key, work);
  }

  private start<T>(key: string, work: () => Promise<T>): Promise<T> {
    const result = work().finally(() => {
      if (this.running.get(key) === result) this.running.delete(key);
    });
    this.running.set(key, result);
    return result;
  }
}
