import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { aTrace, Collector } from '../support/collector.js';
import { freePort, until } from '../support/processes.js';
import { Fleet } from '../support/fleet.js';

const MINUTE = 60_000;

describe('A trace', () => {
  let collector: Collector;
  let sluice: Fleet;

  beforeEach(async () => {
    collector = await Collector.start();
  });
  afterEach(async () => {
    await sluice.stop();
    await collector.close();
  }, MINUTE);

  const start = async (settings: Record<string, string> = {}) => {
    sluice = await Fleet.startProcesses({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...settings });
    return sluice;
  };

  it(
    'has both attempts when a worker that was stopped wakes after another has delivered',
    async () => {
      await start();
      const stopped = await sluice.worker();
      const { traceId, traceparent } = aTrace();
      const id = await sluice.send('wait 500', { traceparent });
      await until(() => sluice.began(id, 1), 20_000);
      stopped.signal('SIGSTOP');
      await sluice.worker();
      await collector.arrived(traceId, 'consumer', 1);
      stopped.signal('SIGCONT');
      const attempts = await collector.arrived(traceId, 'consumer', 2);
      const [request] = await collector.arrived(traceId, 'server');
      expect(attempts.map(({ attributes }) => attributes['sluice.attempt'])).toEqual([2, 1]);
      expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([request?.spanId, request?.spanId]);
    },
    MINUTE,
  );

  it(
    'has the next attempt when a worker was killed, whose own is lost with it',
    async () => {
      await start();
      const killed = await sluice.worker();
      const { traceId, traceparent } = aTrace();
      const id = await sluice.send('wait 500', { traceparent });
      await until(() => sluice.began(id, 1), 20_000);
      killed.signal('SIGKILL');
      await sluice.worker();
      const [attempt] = await collector.arrived(traceId, 'consumer');
      const [request] = await collector.arrived(traceId, 'server');
      expect(attempt).toMatchObject({ parentSpanId: request?.spanId });
      expect(attempt?.attributes).toMatchObject({ 'sluice.attempt': 2, 'sluice.outcome': 'delivered' });
      expect(collector.of(traceId)).toHaveLength(2);
    },
    MINUTE,
  );

  it(
    'goes on when the API was killed before it had relayed the message',
    async () => {
      await start();
      const release = await sluice.client.hold('LOCK TABLE bullmq.job');
      const { traceId, traceparent } = aTrace();
      const id = await sluice.send('hello', { traceparent });
      const [request] = await collector.arrived(traceId, 'server');
      sluice.api.signal('SIGKILL');
      await sluice.api.ended();
      await release();
      expect(await sluice.sql('SELECT FROM bullmq.job')).toEqual([]);
      await sluice.worker();
      const [delivery] = await collector.arrived(traceId, 'consumer');
      expect(delivery).toMatchObject({ parentSpanId: request?.spanId });
      expect(delivery?.attributes).toMatchObject({ 'messaging.message.id': id, 'sluice.attempt': 1 });
    },
    MINUTE,
  );

  it(
    'is exported when a process is told to stop, however long it would have waited otherwise',
    async () => {
      await start({ OTEL_BSP_SCHEDULE_DELAY: '600000' });
      const worker = await sluice.worker();
      const { traceId, traceparent } = aTrace();
      const id = await sluice.send('hello', { traceparent });
      await until(() => sluice.began(id, 1), 20_000);
      for (const [program, kind] of [
        [sluice.api, 'server'],
        [worker, 'consumer'],
      ] as const) {
        expect(collector.of(traceId, kind)).toEqual([]);
        program.signal('SIGTERM');
        expect(await program.ended()).toBe(0);
        expect(collector.of(traceId, kind)).toHaveLength(1);
      }
    },
    MINUTE,
  );

  it(
    'is lost when the collector is too slow, and the log says so',
    async () => {
      const slow = createServer((_request, response) => setTimeout(() => response.end('{}'), 300));
      slow.listen(0, '127.0.0.1');
      await once(slow, 'listening');
      const { port } = slow.address() as AddressInfo;
      await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_BSP_MAX_QUEUE_SIZE: '2',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
      });
      await until(async () => {
        await sluice.send('hello');
        return /"reason":"Dropped \d+ spans/.test(sluice.api.output);
      }, 20_000);
      slow.closeAllConnections();
      slow.close();
    },
    MINUTE,
  );

  it(
    'is lost when the collector is away, which costs one line of the log, and holds nobody up',
    async () => {
      await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
        OTEL_EXPORTER_OTLP_TIMEOUT: '100',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret-of-the-collector',
      });
      await sluice.api.printed('traces could not be exported');
      for (let count = 0; count < 20; count++) {
        await sluice.send('hello');
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
      expect(sluice.api.output.match(/traces could not be exported/g)).toHaveLength(1);
      expect(sluice.api.output).toContain('"reason":"connect ECONNREFUSED');
      expect(sluice.api.output).not.toContain('secret-of-the-collector');
      const before = performance.now();
      sluice.api.signal('SIGTERM');
      expect(await sluice.api.ended()).toBe(0);
      expect(performance.now() - before).toBeLessThan(8_000);
    },
    MINUTE,
  );
});
