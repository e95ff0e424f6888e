import { Fleet } from '../support/fleet.js';
import { callUndocumented } from '../support/http.js';
import { Link } from '../support/link.js';
import { metricsOf } from '../support/metrics.js';
import { until, type Program } from '../support/processes.js';
import { asApp, NO_REDIS, TestRedis } from '../support/redis.js';
import { describeUnless } from '../support/skipping.js';

describeUnless(NO_REDIS)('While the connections to Redis stay open', () => {
  const link = new Link();
  let redis: TestRedis;
  let other: TestRedis;
  let fleet: Fleet;

  beforeAll(async () => {
    [redis, other] = await Promise.all([TestRedis.startForApp(), TestRedis.startForApp()]);
    const url = await link.open(redis.url);
    fleet = await Fleet.startProcesses({ REDIS_URL: asApp(url) });
    await fleet.worker();
  });
  afterAll(async () => {
    await fleet.stop();
    await link.cut();
    await Promise.all([redis, other].map((one) => one.stop()));
  });

  const outputs = () => [...fleet.apis, ...fleet.workers].map(({ output }) => output).join('\n');
  const reportOf = async (program: Program) => {
    const url = await program.managementUrl();
    const { status, body } = await callUndocumented(url, { path: '/health/ready' });
    const { redis: health } = (body as unknown as { checks: { redis: string } }).checks;
    return [status, health, (await metricsOf(url)).get('sluice_redis_up')];
  };
  /** A process is ready also without Redis. */
  const isReported = async (state: 'up' | 'down') => {
    const expected = JSON.stringify([200, state, state === 'up' ? 1 : 0]);
    for (const program of [...fleet.apis, ...fleet.workers])
      await until(async () => JSON.stringify(await reportOf(program)) === expected, 20_000, outputs);
  };
  const isDelivered = (id: string) => until(fleet.has(id, 'delivered'), 20_000, outputs);
  const replicate = async (one: TestRedis, master: TestRedis | null) => {
    const { hostname = 'NO', port = 'ONE' } = master === null ? {} : new URL(master.url);
    await one.run((client) => client.call('REPLICAOF', hostname, port));
  };

  it('health says that rights were withdrawn, until they are back', async () => {
    await isReported('up');
    await redis.run((client) => client.acl('SETUSER', 'app', '-@write'));
    const id = await fleet.send('waits for Redis');
    await isReported('down');
    await redis.run((client) => client.acl('SETUSER', 'app', '+@all'));
    await isDelivered(id);
    await isReported('up');
  });

  it('a master that becomes a replica is replaced by that to which its name leads', async () => {
    await replicate(other, redis);
    await until(async () =>
      (await other.run((client) => client.info('replication'))).includes('master_link_status:up'),
    );
    await replicate(other, null);
    link.lead(other.url);
    await replicate(redis, other);
    await isDelivered(await fleet.send('delivered through the new master'));
    await isReported('up');
    expect(outputs()).not.toContain('database');
  });
});
