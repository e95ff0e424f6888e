import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { aTrace, Collector } from '../support/collector.js';
import { Fleet } from '../support/fleet.js';
import { freePort, listen, until } from '../support/processes.js';

describe('A trace', () => {
  let collector: Collector;
  let sluice: Fleet;
  const { traceId, traceparent } = aTrace();

  beforeEach(async () => {
    collector = await Collector.start();
  });
  afterEach(async () => {
    await sluice.stop();
    await collector.close();
  });

  const start = async (settings: Record<string, string> = {}) => {
    sluice = await Fleet.startProcesses({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...settings });
  };

  it('is exported on shutdown, whatever the export interval', async () => {
    await start({ OTEL_BSP_SCHEDULE_DELAY: '600000' });
    const worker = await sluice.worker();
    const id = await sluice.send('hello', { traceparent });
    await until(() => sluice.began(id, 1));
    for (const [program, kind] of [
      [sluice.api, 'server'],
      [worker, 'consumer'],
    ] as const) {
      expect(collector.of(traceId, kind)).toEqual([]);
      expect(await program.end()).toBe(0);
      expect(collector.of(traceId, kind)).toHaveLength(1);
    }
  });

  it('is dropped if the collector is too slow, which is logged', async () => {
    const slow = createServer((_request, response) => setTimeout(() => response.end('{}'), 300));
    await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: await listen(slow),
      ...{ OTEL_BSP_MAX_QUEUE_SIZE: '2', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' },
    });
    try {
      await until(async () => {
        await sluice.send('hello');
        return /"reason":"Dropped \d+ spans/.test(sluice.api.output);
      });
    } finally {
      slow.closeAllConnections();
      slow.close();
    }
  });

  it('is dropped if the collector is unavailable, which is logged once and delays neither requests nor shutdown', async () => {
    await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret-of-the-collector',
    });
    await sluice.api.printed('traces could not be exported');
    for (let count = 0; count < 20; count++) {
      await sluice.send('hello');
      await sleep(60);
    }
    expect(sluice.api.output.match(/traces could not be exported/g)).toHaveLength(1);
    expect(sluice.api.output).toContain('"reason":"connect ECONNREFUSED');
    expect(sluice.api.output).not.toContain('secret-of-the-collector');
    const before = performance.now();
    expect(await sluice.api.end()).toBe(0);
    expect(performance.now() - before).toBeLessThan(24_000);
  });
});
