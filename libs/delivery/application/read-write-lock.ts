interface Waiting {
  readonly exclusive: boolean;
  readonly start: () => void;
}

/**
 * A readers-writer lock in order of arrival, so that neither side can starve the other. async-mutex has only a semaphore,
 * whose release takes time in proportion to its size.
 */
export class ReadWriteLock {
  private sharing = 0;
  private excluding = false;
  private readonly waiting: Waiting[] = [];

  /** Runs `work` concurrently with other shared work. */
  async shared<T>(work: () => Promise<T>): Promise<T> {
    await this.acquire(false);
    try {
      return await work();
    } finally {
      this.sharing--;
      this.startNext();
    }
  }

  /** Runs `work` while nothing else runs. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    await this.acquire(true);
    try {
      return await work();
    } finally {
      this.excluding = false;
      this.startNext();
    }
  }

  private async acquire(exclusive: boolean): Promise<void> {
    await new Promise<void>((start) => {
      this.waiting.push({ exclusive, start });
      this.startNext();
    });
  }

  // The lock is taken here, not when the promise resolves, so that nothing can get in between.
  private startNext(): void {
    for (let [first] = this.waiting; first !== undefined; [first] = this.waiting) {
      if (this.excluding || (first.exclusive && this.sharing > 0)) return;
      this.waiting.shift();
      if (first.exclusive) this.excluding = true;
      else this.sharing++;
      first.start();
    }
  }
}
