import type pg from 'pg';
import { PeriodicTask } from '#kernel/periodic-task.js';
import { CONNECTION_LIMITS, connectionOptions, ReliableClient } from '#platform/database/connection.js';

const RECONNECT_EVERY_MS = 1_000;
const CONNECTED_MS = 60_000;

/** A connection that listens for the events that workers of other programs publish. */
export class EventListener {
  private client: pg.Client | null = null;
  private readonly connects = new PeriodicTask(() => this.connect().catch(() => undefined));

  /** @param onEvent called for each event of the queue, and when some may have been missed */
  constructor(
    private readonly url: string,
    private readonly queue: string,
    private readonly onEvent: () => void,
  ) {}

  start(): void {
    this.connects.start(() => (this.client === null ? RECONNECT_EVERY_MS : CONNECTED_MS));
    this.connects.trigger();
  }

  async close(): Promise<void> {
    await this.connects.close();
    await this.client?.end();
  }

  private async connect(): Promise<void> {
    if (this.client !== null) return;
    this.onEvent();
    const client: pg.Client = new ReliableClient({
      ...CONNECTION_LIMITS,
      connectionString: this.url,
      application_name: 'sluice-events',
      options: connectionOptions(true),
    });
    client.on('notification', ({ payload }) => {
      if (payload === this.queue) this.onEvent();
    });
    client.once('end', () => {
      if (this.client === client) this.client = null;
      this.connects.adjust();
    });
    try {
      await client.connect();
      await client.query('LISTEN bullmq_events');
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    this.client = client;
    this.onEvent();
  }
}
