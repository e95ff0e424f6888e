interface Waiting {
  readonly alone: boolean;
  readonly go: () => void;
}

/**
 * Lets work run side by side, or one piece of it alone: a readers-writer lock in which nobody overtakes, so that
 * neither side can starve the other.
 */
export class Solitude {
  private together = 0;
  private occupied = false;
  private readonly waiting: Waiting[] = [];

  async amongOthers<T>(work: () => Promise<T>): Promise<T> {
    await this.turn(false);
    try {
      return await work();
    } finally {
      this.together--;
      this.next();
    }
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    await this.turn(true);
    try {
      return await work();
    } finally {
      this.occupied = false;
      this.next();
    }
  }

  private async turn(alone: boolean): Promise<void> {
    await new Promise<void>((go) => {
      this.waiting.push({ alone, go });
      this.next();
    });
  }

  // Whoever is let in has its place already, so that nobody can slip in between.
  private next(): void {
    for (let [first] = this.waiting; first !== undefined; [first] = this.waiting) {
      if (this.occupied || (first.alone && this.together > 0)) return;
      this.waiting.shift();
      if (first.alone) this.occupied = true;
      else this.together++;
      first.go();
    }
  }
}
