import type { Logger } from '../logging.js';
import { PROBLEMS } from './problems.js';

/** The status of an answer; `aborted` when its connection was lost before it was written in full. */
export type Status = number | 'aborted';

/** A request that is over, as far as a log may tell of it: never its URL, a header, or anything of a body or key. */
export interface Answered {
  readonly requestId: string;
  readonly traceId?: string | undefined;
  readonly method: string;
  /** The pattern of the route, not the path. */
  readonly route: string;
  readonly status: Status;
  readonly durationMs: number;
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
}

const OVERLOAD_EVERY_MS = 1_000;

/** One line for a request: for each that we failed, and for a sample of the others. */
export class AccessLog {
  private refused = 0;
  private timer: NodeJS.Timeout | null = null;

  /** @param sample the share of requests that have a line, from 0 to 1 */
  constructor(
    private readonly logger: Logger,
    private readonly sample: number,
    private readonly random: () => number = Math.random,
  ) {}

  /** Whether a request with this status gets a line: to be asked first, so that others cost nothing. */
  wants(status: Status): boolean {
    return isFailure(status) || this.random() < this.sample;
  }

  /** A request was refused for there was too much to do. One line a second tells of all of them. */
  overloaded(): void {
    this.refused++;
    this.timer ??= setTimeout(() => {
      this.logger.warn({ refused: this.refused }, 'overloaded');
      this.refused = 0;
      this.timer = null;
    }, OVERLOAD_EVERY_MS).unref();
  }

  write(answered: Answered): void {
    const line = { ...answered, durationMs: Math.round(answered.durationMs * 10) / 10 };
    if (isFailure(answered.status)) this.logger.warn(line, 'request');
    else this.logger.info(line, 'request');
  }
}

// A caller whose account is full is refused by a rule, not by a fault, and may be as often as it likes.
function isFailure(status: Status): boolean {
  return status !== 'aborted' && status >= 500 && status !== PROBLEMS.storage_full.status;
}
