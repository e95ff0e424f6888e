import type { BackgroundTask } from '#kernel/background-task.js';
import type { EndpointDeliveries } from './endpoint-deliveries.js';
import type { EndedEndpoint, Endpoints } from './endpoints/endpoints.js';

const QUIET_INTERVAL_MS = 60_000;

/** A pass over the deliveries that an endpoint still has to get. */
interface Pass {
  /** As it was when the pass began. */
  readonly endpoint: EndedEndpoint;
  /** The message up to which the pass has come; null at its end. */
  last: string | null;
  /** Deliveries may be left that it has to end: it is repeated in the next run. */
  isRepeated: boolean;
}

/**
 * Ends the deliveries that wait in vain for endpoints which were disabled or deleted or whose types have changed, in one
 * process at a time.
 */
export class EndDeliveries implements BackgroundTask {
  readonly intervalMs = 1_000;

  /** Whether the last run found such an endpoint. */
  private hasFound = false;

  constructor(
    private readonly endpoints: Pick<Endpoints, 'withEnded' | 'forgetEnded'>,
    private readonly deliveries: Pick<EndpointDeliveries, 'abandon'>,
    private readonly observer: { failed(error: unknown): void },
  ) {}

  /** A quiet installation is not left with deliveries to end: what was found may be complete only in a later run. */
  get quietIntervalMs(): number {
    return this.hasFound ? this.intervalMs : QUIET_INTERVAL_MS;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.endAll(signal).catch((error: unknown) => {
      this.observer.failed(error);
    });
  }

  /** Passes once over the deliveries of each endpoint, a step of each in turn. */
  private async endAll(signal: AbortSignal): Promise<void> {
    const passes = new Map<string, Pass>();
    for (let more = true; more && !signal.aborted;) {
      more = false;
      await this.endpoints.withEnded(async (ended) => {
        for (const endpoint of ended) {
          const pass = passes.get(endpoint.id) ?? { endpoint, last: '', isRepeated: !endpoint.isSettled };
          passes.set(endpoint.id, pass);
          if (pass.last !== null) more = (await this.endSome(pass, pass.last)) || more;
        }
      });
    }
    this.hasFound = passes.size > 0;
  }

  /** @returns whether the pass goes on */
  private async endSome(pass: Pass, after: string): Promise<boolean> {
    const { id, reason } = pass.endpoint;
    try {
      const { areMade, last } = await this.deliveries.abandon(id, reason, after);
      pass.isRepeated ||= areMade;
      pass.last = last;
      if (last === null && !pass.isRepeated) await this.endpoints.forgetEnded(pass.endpoint);
      return last !== null;
    } catch (error) {
      this.observer.failed(error);
      pass.last = null;
      return false;
    }
  }
}
