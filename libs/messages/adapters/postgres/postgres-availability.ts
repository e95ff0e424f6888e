import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { ALWAYS_ACTIVE, type Activity } from '#kernel/activity.js';
import { PeriodicTask } from '#kernel/periodic-task.js';
import { CONNECTION_LIMITS, connectionOptions, ReliableClient } from '#platform/database/connection.js';
import type { Database } from '#platform/database/database.js';
import type { PlatformSettings } from '#platform/process/settings.js';
import { Availability, type Available } from '../../application/delivering/availability.js';

const CHANNEL = 'sluice_available';
/** What is announced meanwhile shares a notification. */
const GATHER_MS = 5;
/** What fits into the 8,000 bytes of a notification. */
const MAX_ANNOUNCED = 200;
/**
 * How often the connection is checked and, while there is none, everything is announced. While the installation is quiet,
 * the connection's own checks suffice.
 */
const CHECK_EVERY_MS = 1_000;

/**
 * Any statement would check the connection. This one also lets PostgreSQL forget what all sessions have read: it does not do
 * so by itself once the queue of NOTIFY is full (seen in 18.4), so that transactions with a NOTIFY would fail for ever.
 */
const CHECK = 'SELECT pg_notification_queue_usage()';

const NOTIFY = `SELECT pg_notify('${CHANNEL}', payload) FROM unnest($1::text[]) AS payload`;

type Listener = (available: Iterable<Available> | 'all') => void;

/**
 * Announces to this process at once, and to the others by LISTEN and NOTIFY, right after the commit. A NOTIFY in the
 * transactions of messages would let them commit one at a time, in the whole cluster.
 */
export class PostgresAvailability extends Availability {
  private readonly origin = randomBytes(6).toString('hex');
  private readonly listeners: Listener[] = [];
  private announced = new Set<Available>();
  private timer: NodeJS.Timeout | undefined;
  private client: pg.Client | null = null;
  private readonly checks = new PeriodicTask(() => this.check());

  constructor(
    private readonly database: Database,
    private readonly settings: Pick<PlatformSettings, 'database'>,
    private readonly activity: Pick<Activity, 'isQuiet' | 'onWake'> = ALWAYS_ACTIVE,
  ) {
    super();
  }

  announce(available: Iterable<Available>): void {
    const all = [...available];
    if (all.length === 0) return;
    this.emit(all);
    for (const one of all) this.announced.add(one);
    this.timer ??= setTimeout(() => void this.notify(), GATHER_MS);
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
    this.checks.start(() => (this.client !== null && this.activity.isQuiet ? Infinity : CHECK_EVERY_MS));
    this.activity.onWake(() => {
      this.checks.adjust();
    });
    this.checks.trigger();
  }

  async close(): Promise<void> {
    await this.notify();
    await this.checks.close();
    await this.client?.end();
  }

  private emit(available: Iterable<Available> | 'all'): void {
    for (const listener of this.listeners) listener(available);
  }

  private async notify(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const announced = [...this.announced];
    this.announced = new Set();
    const payloads: string[] = [];
    for (let start = 0; start < announced.length; start += MAX_ANNOUNCED) {
      payloads.push([this.origin, ...announced.slice(start, start + MAX_ANNOUNCED)].join(' '));
    }
    // A request that misses it searches again when its wait ends.
    if (payloads.length > 0) await this.database.query(NOTIFY, [payloads]).catch(() => undefined);
  }

  private async check(): Promise<void> {
    try {
      // Over a half-open connection it fails after its timeout.
      if (this.client !== null) await this.client.query(CHECK);
      else await this.connect();
    } catch {
      this.lost();
    }
    if (this.client === null) this.emit('all');
  }

  private async connect(): Promise<void> {
    const client: pg.Client = new ReliableClient({
      ...CONNECTION_LIMITS,
      connectionString: this.settings.database.url,
      application_name: 'sluice-availability',
      options: connectionOptions(true),
    });
    client.on('notification', ({ payload = '' }) => {
      const [origin, ...available] = payload.split(' ');
      if (origin !== this.origin) this.emit(available);
    });
    client.once('end', () => {
      if (this.client === client) this.lost();
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    this.client = client;
    this.emit('all');
  }

  private lost(): void {
    const client = this.client;
    this.client = null;
    this.checks.adjust();
    client?.end().catch(() => undefined);
  }
}
