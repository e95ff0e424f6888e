import type { Logger } from '../logging.js';

/** An answered request, as far as a log may tell of it: never its URL, a header, or anything of a body or key. */
export interface Answered {
  readonly requestId: string;
  readonly traceId?: string | undefined;
  readonly method: string;
  /** The pattern of the route, not the path. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
}

/** One line for a request: for each that we failed, and for a sample of the others. */
export class AccessLog {
  /** @param sample the share of requests that have a line, from 0 to 1 */
  constructor(
    private readonly logger: Logger,
    private readonly sample: number,
    private readonly random: () => number = Math.random,
  ) {}

  /** Whether a request with this status gets a line: to be asked first, so that others cost nothing. */
  wants(status: number): boolean {
    return status >= 500 || this.random() < this.sample;
  }

  write(answered: Answered): void {
    const line = { ...answered, durationMs: Math.round(answered.durationMs * 10) / 10 };
    if (answered.status >= 500) this.logger.warn(line, 'request');
    else this.logger.info(line, 'request');
  }
}
