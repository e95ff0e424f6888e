import { setTimeout as sleep } from 'node:timers/promises';
import { Fleet } from '../support/fleet.js';
import { residentBytes, until } from '../support/processes.js';

const MEBIBYTE = 1_048_576;
const LOCKED_MS = process.env.FAULT_ROUNDS === undefined ? 3_000 : 60_000;

let fleet: Fleet;
afterEach(() => fleet.stop());

it('While the queue is locked under load, messages are accepted; later, all are delivered and the outbox is empty', async () => {
  fleet = await Fleet.startForLoad();
  const { api } = fleet;
  await fleet.worker();
  const callers = await fleet.load({ perSecond: 100 });

  const before = { accepted: callers.acknowledged, memory: residentBytes(api.pid) };
  const release = await fleet.client.hold('LOCK TABLE bullmq.job');
  await Promise.all([fleet.going(50), sleep(LOCKED_MS)]);
  const accepted = callers.acknowledged - before.accepted;
  const grown = residentBytes(api.pid) - before.memory;
  await release();
  process.stdout.write(`accepted while locked: ${accepted}, memory: +${Math.round(grown / MEBIBYTE)} MiB\n`);

  expect(await fleet.violations()).toEqual([]);
  // A busy machine may verify the key of some too late.
  expect(callers.count('503 unavailable')).toBeLessThanOrEqual(accepted / 5);
  expect(grown).toBeLessThan(512 * MEBIBYTE);
  await until(async () => (await fleet.sql('SELECT FROM sluice.outbox')).length === 0);
}, 240_000);
