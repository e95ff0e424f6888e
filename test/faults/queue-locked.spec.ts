import { Fleet } from '../support/fleet.js';
import { Ledger } from '../support/ledger.js';
import { until } from '../support/processes.js';

/** Milliseconds: short in the ordinary run, a minute in the long form. */
const LOCKED_MS = process.env.FAULT_ROUNDS === undefined ? 5_000 : 60_000;

describe('a queue that is locked under load', () => {
  it('does not keep messages from being accepted; all are delivered afterwards, and the outbox is empty', async () => {
    const fleet = await Fleet.start();
    const ledger = new Ledger(fleet.api.url, fleet.apiKey);
    await fleet.worker();
    ledger.start(32);
    await until(() => ledger.acknowledged.size > 100, 10_000);

    const locker = await fleet.connection();
    await locker.query('BEGIN');
    await locker.query('LOCK TABLE bullmq.job');
    const before = { accepted: ledger.acknowledged.size, memory: process.memoryUsage().rss };
    await new Promise((resolve) => setTimeout(resolve, LOCKED_MS));
    const accepted = ledger.acknowledged.size - before.accepted;
    const grown = process.memoryUsage().rss - before.memory;
    await locker.query('ROLLBACK');
    locker.release();
    await ledger.stop();
    process.stdout.write(`accepted while locked: ${accepted}, memory: +${Math.round(grown / 1_048_576)} MiB\n`);

    await ledger.settled(60_000 + LOCKED_MS);
    expect(accepted).toBeGreaterThan(100);
    expect(ledger.unknown).toBe(0);
    expect(grown).toBeLessThan(512 * 1_048_576);
    expect(await ledger.reckon()).toEqual([]);
    await until(async () => (await fleet.sql('SELECT FROM sluice.outbox')).length === 0, 5_000);
    expect(await fleet.census()).toBe(0);
    await fleet.stop();
  }, 240_000);

  it('has its outbox emptied within a second after traffic ends', async () => {
    const fleet = await Fleet.start();
    await Promise.all(Array.from({ length: 50 }, () => fleet.send('hello')));
    await until(async () => (await fleet.sql('SELECT FROM sluice.outbox')).length === 0, 1_000);
    expect(await fleet.sql('SELECT FROM bullmq.job')).toHaveLength(50);
    await fleet.stop();
  });
});
