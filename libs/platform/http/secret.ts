import { hash, timingSafeEqual } from 'node:crypto';

/** A secret that others present. Only its digest is kept. */
export class Secret {
  private readonly digest: Buffer;

  constructor(secret: string) {
    this.digest = digest(secret);
  }

  matches(presented: string): boolean {
    return timingSafeEqual(digest(presented), this.digest);
  }
}

// Of equal length whatever is presented, so that the time of the comparison tells nothing.
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
