import { PeriodicTask } from '#kernel/periodic-task.js';
import type { EndpointDeliveries } from '#messages/index.js';
import type { Endpoints } from './endpoints.js';

/** Ends the deliveries that wait for endpoints which were disabled or deleted. Several processes may do so at once. */
export class EndDeliveries {
  private closed = false;
  private readonly rounds = new PeriodicTask(() =>
    this.run().catch((error: unknown) => {
      this.observer.failed(error);
    }),
  );

  constructor(
    private readonly endpoints: Pick<Endpoints, 'ended' | 'forgetEnded'>,
    private readonly deliveries: Pick<EndpointDeliveries, 'abandon'>,
    private readonly observer: { failed(error: unknown): void },
  ) {}

  start(everyMs: number): void {
    this.rounds.start(everyMs);
  }

  close(): Promise<void> {
    this.closed = true;
    return this.rounds.close();
  }

  /** Until only those are left that run. Endpoints take turns. */
  private async run(): Promise<void> {
    for (let more = true; more && !this.closed;) {
      more = false;
      for (const { id, reason } of await this.endpoints.ended()) {
        const { abandoned, pending } = await this.deliveries.abandon(id, reason);
        if (!pending) await this.endpoints.forgetEnded(id);
        more ||= pending && abandoned > 0;
      }
    }
  }
}
