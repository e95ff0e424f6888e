/**
 * Which queue this installation uses. Processes may have different ones: while their settings are changed one by one, or
 * by mistake. The queue of the process that started last is the current one, as long as a process with it runs.
 */
export abstract class CurrentQueue {
  private current = true;

  /** Whether the queue of this process is the current one, at the last check. Jobs are added only to that one. */
  get isCurrent(): boolean {
    return this.current;
  }

  /** @param dataSet what identifies the queue of this process; null while it can't be reached */
  async check(dataSet: string | null): Promise<void> {
    this.current = await this.compare(dataSet);
  }

  /** Makes the queue the current one if this process has just started, or if that one has no process any more. */
  protected abstract compare(dataSet: string | null): Promise<boolean>;

  /** What identifies the current queue; null when no process has started yet. */
  abstract dataSet(): Promise<string | null>;
}
