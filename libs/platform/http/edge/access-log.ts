import type { Logger } from '../../observability/logging.js';

/** The status of a response; `aborted` when the connection was lost before it was written completely. */
export type Status = number | 'aborted';

/** What is logged of a finished request: never its URL, a header, or any part of its body or key. */
interface FinishedRequest {
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

/** Logs each failed request and a sample of the others, one line each. */
export class AccessLog {
  private refused = 0;
  private timer: NodeJS.Timeout | null = null;

  /** @param sample the share of requests that are logged, from 0 to 1 */
  constructor(
    private readonly logger: Logger,
    private readonly sample: number,
    private readonly random: () => number = Math.random,
  ) {}

  /** Whether a request with this status is logged. Check it first, so that the others cost nothing. */
  wants(status: Status): boolean {
    return isFailure(status) || this.random() < this.sample;
  }

  /** Counts a request that was refused because of overload. They are logged together, one line a second. */
  overloaded(): void {
    this.refused++;
    this.timer ??= setTimeout(() => {
      this.logger.warn({ refused: this.refused }, 'overloaded');
      this.refused = 0;
      this.timer = null;
    }, OVERLOAD_EVERY_MS).unref();
  }

  write(request: FinishedRequest): void {
    const line = { ...request, durationMs: Math.round(request.durationMs * 10) / 10 };
    if (isFailure(request.status)) this.logger.warn(line, 'request');
    else this.logger.info(line, 'request');
  }
}

/** A full storage is a limit of the account, not a failure of the service. */
const INSUFFICIENT_STORAGE = 507;

function isFailure(status: Status): boolean {
  return status !== 'aborted' && status >= 500 && status !== INSUFFICIENT_STORAGE;
}
