import type { BackgroundTask } from '#kernel/background-task.js';
import type { EndpointDeliveries } from './endpoint-deliveries.js';
import type { EndedEndpoint, Endpoints } from './endpoints/endpoints.js';

/** Ends the deliveries that wait for endpoints which were disabled or deleted, in one process at a time. */
export class EndDeliveries implements BackgroundTask {
  readonly intervalMs = 1_000;
  readonly quietIntervalMs = 60_000;

  constructor(
    private readonly endpoints: Pick<Endpoints, 'withEnded' | 'forgetEnded'>,
    private readonly deliveries: Pick<EndpointDeliveries, 'abandon'>,
    private readonly observer: { failed(error: unknown): void },
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    await this.endAll(signal).catch((error: unknown) => {
      this.observer.failed(error);
    });
  }

  /** Ends some of each endpoint in turn, until only those are left that are being sent. */
  private async endAll(signal: AbortSignal): Promise<void> {
    for (let more = true; more && !signal.aborted;) {
      more = false;
      await this.endpoints.withEnded(async (ended) => {
        for (const endpoint of ended) more = (await this.endSome(endpoint)) || more;
      });
    }
  }

  /** @returns whether more can be ended now */
  private async endSome(endpoint: EndedEndpoint): Promise<boolean> {
    try {
      const { abandoned, pending } = await this.deliveries.abandon(endpoint.id, endpoint.reason);
      if (!pending) await this.endpoints.forgetEnded(endpoint);
      return pending && abandoned > 0;
    } catch (error) {
      this.observer.failed(error);
      return false;
    }
  }
}
