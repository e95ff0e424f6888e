import type { FastifyRequest } from 'fastify';
import { DomainError } from '#kernel/domain-error.js';
import { networkOf } from '../access/client-address.js';

/** The share of a budget that one caller may have, and that all clients without a key may have together. */
const SHARE = 1 / 4;
/** A caller that has no more than this is never cut off, however much others have. */
const ALWAYS_ALLOWED_BYTES = 64 * 1024;

/** Created once, because an error captures its stack. */
export const TOO_MUCH_BUFFERED = new DomainError(
  'unavailable',
  'Too many bytes are in progress at once. Send fewer or smaller requests at the same time, and retry later.',
);

/**
 * Bounds the memory for bodies, either of requests or of responses. Only bytes that are in memory count: announcing a
 * length costs others nothing. Beyond the bound, the caller that has most loses the newest of its transfers. A semaphore
 * with weights, as async-mutex has one, makes the next transfer wait instead, and ends none.
 */
export class BufferBudget {
  private readonly callers: Pool;
  private readonly anonymous: Pool;

  constructor(maxBytes: number) {
    this.callers = new Pool(maxBytes);
    this.anonymous = new Pool(maxBytes * SHARE);
  }

  get bytes(): number {
    return this.callers.bytes + this.anonymous.bytes;
  }

  /** @param cut called when the transfer must end because another one needs the room; it is already closed then */
  open({ caller, operator, clientAddress }: FastifyRequest, cut: () => void): Transfer {
    if (caller !== undefined) return new Transfer(this.callers, caller.accountId, cut);
    if (operator !== undefined) return new Transfer(this.callers, 'operators', cut);
    return new Transfer(this.anonymous, networkOf(clientAddress), cut);
  }
}

/** What one caller has. */
interface Holder {
  bytes: number;
  /** Transfers that can be cut, oldest first. */
  readonly transfers: Set<Transfer>;
}

/** The bytes of one body. */
export class Transfer {
  private holder: Holder | null = null;
  private bytes = 0;
  private closed = false;

  constructor(
    private readonly pool: Pool,
    private readonly name: string,
    readonly cut: () => void,
  ) {}

  /** @returns false when this transfer must end: it is closed then */
  add(bytes: number): boolean {
    if (this.closed) return false;
    this.holder ??= this.pool.holder(this.name);
    this.holder.transfers.add(this);
    this.bytes += bytes;
    this.pool.count(this.name, this.holder, bytes);
    this.pool.makeRoom(this, this.holder);
    return !this.closed;
  }

  /** Its bytes still count, but it can no longer be cut. */
  keep(): void {
    this.holder?.transfers.delete(this);
  }

  readonly close = (): void => {
    this.keep();
    if (!this.closed && this.holder !== null) this.pool.count(this.name, this.holder, -this.bytes);
    this.closed = true;
  };
}

class Pool {
  /** Only entries with at least one byte. */
  private readonly holders = new Map<string, Holder>();
  bytes = 0;

  constructor(private readonly maxBytes: number) {}

  holder(name: string): Holder {
    return this.holders.get(name) ?? { bytes: 0, transfers: new Set() };
  }

  count(name: string, holder: Holder, bytes: number): void {
    holder.bytes += bytes;
    this.bytes += bytes;
    if (holder.bytes > 0) this.holders.set(name, holder);
    else this.holders.delete(name);
  }

  /** Closes the transfer that has just grown, or others, when there is too much. */
  makeRoom(grown: Transfer, { bytes }: Holder): void {
    if (bytes > this.maxBytes * SHARE) grown.close();
    while (this.bytes > this.maxBytes) {
      const largest = this.largest();
      if (largest === null || largest.bytes <= ALWAYS_ALLOWED_BYTES) return;
      // Older ones are closer to their end.
      const newest = [...largest.transfers].at(-1) ?? grown;
      newest.close();
      if (newest !== grown) newest.cut();
    }
  }

  private largest(): Holder | null {
    let largest: Holder | null = null;
    for (const holder of this.holders.values()) {
      if (holder.transfers.size > 0 && holder.bytes > (largest?.bytes ?? 0)) largest = holder;
    }
    return largest;
  }
}
