import { RetryLaterError } from '#kernel/domain-error.js';
import type { BackgroundTask } from '#kernel/background-task.js';

const RETRY_AFTER_SECONDS = 30;

/** The space of the store. */
export abstract class Space {
  /** @returns the bytes that may still be used; Infinity without a limit */
  abstract left(): Promise<number>;
}

export interface SpaceObserver {
  /** Passes a function that returns the bytes that are left. */
  watch(left: () => number): void;
  /** From now on new messages, retries and replays are refused, or no longer. */
  changed(isFull: boolean): void;
  /** The space could not be measured; it counts as unchanged. */
  failed(error: unknown): void;
}

/** Tells before the store is full that nothing new is to be stored: deliveries, and PostgreSQL itself, need space as well. */
export class SpaceWatch implements BackgroundTask {
  readonly intervalMs = 5_000;
  /** Bytes; below 0 while too little is left, Infinity without a limit. */
  left = Infinity;

  constructor(
    private readonly space: Space,
    private readonly observer: SpaceObserver,
  ) {
    observer.watch(() => this.left);
  }

  get isFull(): boolean {
    return this.left < 0;
  }

  refusal(): RetryLaterError {
    const detail = 'The service has no space for new messages or deliveries. Retry later.';
    return new RetryLaterError('unavailable', detail, RETRY_AFTER_SECONDS);
  }

  /** Measures once. */
  async run(): Promise<void> {
    const wasFull = this.isFull;
    try {
      this.left = await this.space.left();
    } catch (error) {
      this.observer.failed(error);
    }
    if (this.isFull !== wasFull) this.observer.changed(this.isFull);
  }
}
