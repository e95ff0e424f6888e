import { join } from 'node:path';
import { aTrace, Collector } from '../../support/collector.js';
import { ROOT } from '../../support/processes.js';
import { Fleet } from '../../support/fleet.js';

const NODE_OPTIONS = `--import ${join(ROOT, 'test/support/print-modules.mjs')}`;

/** What the API and the built worker print while they deliver a message. */
async function deliver(settings: Record<string, string>, traceparent: string) {
  const sluice = await Fleet.startProcesses({ NODE_OPTIONS, ...settings });
  try {
    const worker = await sluice.worker({}, 'dist/apps/worker/main.js');
    const id = await sluice.send('hello', { traceparent });
    await worker.printed('"delivered"');
    const kept = await sluice.traceparent(id);
    for (const program of [sluice.api, worker]) {
      expect(await program.end()).toBe(0);
    }
    return { kept, api: sluice.api.output, worker: worker.output };
  } finally {
    await sluice.stop();
  }
}

/** The packages of the SDK that were loaded. The package `api` does nothing on its own, and prom-client needs it. */
function sdkIn(output: string): string[] {
  const packages = JSON.parse(/OpenTelemetry: (.*)/.exec(output)?.[1] ?? 'null') as string[];
  return packages.filter((name) => name !== '@opentelemetry/api');
}

describe('Without a collector', () => {
  it('nothing of the SDK is loaded, and the caller\u2019s trace is passed on anyway', async () => {
    const { traceId, traceparent } = aTrace();
    const { kept, api, worker } = await deliver({}, traceparent);
    expect(sdkIn(api)).toEqual([]);
    expect(sdkIn(worker)).toEqual([]);
    expect(kept).toBe(traceparent);
    expect(worker).toMatch(new RegExp(`"traceId":"${traceId}".*"delivered"`));
  }, 60_000);

  it('(with one, the SDK is loaded)', async () => {
    const collector = await Collector.start();
    const { traceId, traceparent } = aTrace();
    const { api, worker } = await deliver({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, traceparent);
    expect(sdkIn(api)).toContain('@opentelemetry/sdk-trace-base');
    expect(sdkIn(worker)).toContain('@opentelemetry/sdk-trace-base');
    expect(worker).toMatch(new RegExp(`"traceId":"${traceId}".*"delivered"`));
    expect(collector.of(traceId, 'consumer')).toMatchObject([{ service: 'sluice-worker' }]);
    await collector.close();
  }, 60_000);

  it('a failed request is logged with its trace', async () => {
    const sluice = await Fleet.startProcesses({});
    try {
      const { traceId, traceparent } = aTrace();
      const release = await sluice.client.hold('LOCK TABLE sluice.messages');
      const headers = { traceparent, 'x-request-id': 'mine' };
      expect((await sluice.client.send(sluice.account, { headers })).status).toBe(503);
      for (const line of ['unavailable', 'request']) {
        await sluice.api.printed(new RegExp(`"requestId":"mine","traceId":"${traceId}".*"${line}"`));
      }
      await release();
    } finally {
      await sluice.stop();
    }
  }, 60_000);
});
