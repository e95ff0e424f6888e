import { randomFillSync } from 'node:crypto';
import { encodeTypeId } from './typeid.js';

/** A lower bound of the TypeIDs created at this millisecond or later. */
export function lowestId(prefix: string, at: Date): string {
  const uuid = Buffer.alloc(16);
  uuid.writeUIntBE(Math.max(0, at.getTime()), 0, 6);
  return encodeTypeId(prefix, uuid);
}

/** Creates identifiers. */
export abstract class Ids {
  /** A new TypeID. Ids of a later millisecond sort after it, as text and as UUID. */
  abstract next(prefix: string, at: Date): string;
}

/** UUID version 7 (RFC 9562): 48 bits of Unix milliseconds, then 74 random bits. */
export class UuidV7Ids extends Ids {
  // One system call for 256 identifiers: 10 random bytes at a time would cost more than everything else.
  private readonly pool = Buffer.alloc(10 * 256);
  private offset = this.pool.length;

  next(prefix: string, at: Date): string {
    if (this.offset === this.pool.length) {
      randomFillSync(this.pool);
      this.offset = 0;
    }
    const uuid = Buffer.allocUnsafe(16);
    uuid.writeUIntBE(at.getTime(), 0, 6);
    this.pool.copy(uuid, 6, this.offset, this.offset + 10);
    this.offset += 10;
    uuid[6] = 0x70 | ((uuid[6] ?? 0) & 0x0f);
    uuid[8] = 0x80 | ((uuid[8] ?? 0) & 0x3f);
    return encodeTypeId(prefix, uuid);
  }
}
