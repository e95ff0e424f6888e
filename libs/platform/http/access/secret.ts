import { hash, timingSafeEqual } from 'node:crypto';

/** A secret that others are compared with. Only its digest is in memory. */
export class Secret {
  private readonly digest: Buffer;

  constructor(secret: string) {
    this.digest = digest(secret);
  }

  matches(presented: string): boolean {
    return timingSafeEqual(digest(presented), this.digest);
  }
}

// Digests have equal lengths, so that the time of the comparison reveals nothing.
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
