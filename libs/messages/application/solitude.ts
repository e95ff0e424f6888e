/**
 * Lets work run side by side, or one piece of it alone: a readers-writer lock in which whoever wants to be alone goes
 * before those that come later.
 */
export class Solitude {
  private together = 0;
  private occupied = false;
  private readonly wantAlone: (() => void)[] = [];
  private readonly wantTogether: (() => void)[] = [];

  async amongOthers<T>(work: () => Promise<T>): Promise<T> {
    if (this.occupied || this.wantAlone.length > 0) await new Promise<void>((go) => this.wantTogether.push(go));
    else this.together++;
    try {
      return await work();
    } finally {
      this.together--;
      this.next();
    }
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.occupied || this.together > 0) await new Promise<void>((go) => this.wantAlone.push(go));
    else this.occupied = true;
    try {
      return await work();
    } finally {
      this.occupied = false;
      this.next();
    }
  }

  // Whoever is woken has its place already, so that nobody can slip in between.
  private next(): void {
    if (this.occupied || this.together > 0) return;
    const lone = this.wantAlone.shift();
    if (lone !== undefined) {
      this.occupied = true;
      lone();
      return;
    }
    for (const go of this.wantTogether.splice(0)) {
      this.together++;
      go();
    }
  }
}
