/**
 * Combines equal reads that wait into one. A caller that sends the same request on many connections costs no more than
 * on a few, and no request waits for all the others. A result is never older than the call that it answers.
 */
export class SharedReads {
  private readonly running = new Map<string, Promise<unknown>>();
  private readonly next = new Map<string, Promise<unknown>>();

  /**
   * @param key identifies equal reads; must include the account
   * @param work called once for all waiting callers, after the previous call has ended
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
