import { join } from 'node:path';
import { aTrace, Collector } from '../../support/collector.js';
import { ROOT } from '../../support/processes.js';
import { Fleet } from '../../support/fleet.js';

const NODE_OPTIONS = `--import ${join(ROOT, 'test/support/print-modules.mjs')}`;

/** What the API and the program's own worker print in the course of one message. */
async function courseOfAMessage(settings: Record<string, string>, traceparent: string) {
  const sluice = await Fleet.startProcesses({ NODE_OPTIONS, ...settings });
  try {
    const worker = await sluice.worker({}, 'dist/apps/worker/main.js');
    const id = await sluice.send('hello', { traceparent });
    await worker.printed('"delivered"');
    const kept = await sluice.traceparent(id);
    for (const program of [sluice.api, worker]) {
      program.signal('SIGTERM');
      expect(await program.ended()).toBe(0);
    }
    return { kept, api: sluice.api.output, worker: worker.output };
  } finally {
    await sluice.stop();
  }
}

/** The packages of the SDK that were loaded. The API alone does nothing, and prom-client brings it along. */
function sdkIn(output: string): string[] {
  const packages = JSON.parse(/OpenTelemetry: (.*)/.exec(output)?.[1] ?? 'null') as string[];
  return packages.filter((name) => name !== '@opentelemetry/api');
}

describe('Without a collector', () => {
  it('nothing of the SDK is loaded, and the caller\u2019s trace is carried all the same', async () => {
    const { traceId, traceparent } = aTrace();
    const { kept, api, worker } = await courseOfAMessage({}, traceparent);
    expect(sdkIn(api)).toEqual([]);
    expect(sdkIn(worker)).toEqual([]);
    expect(kept).toBe(traceparent);
    expect(worker).toMatch(new RegExp(`"traceId":"${traceId}".*"delivered"`));
  }, 60_000);

  it('(with one, it is)', async () => {
    const collector = await Collector.start();
    const { traceId, traceparent } = aTrace();
    const { api, worker } = await courseOfAMessage({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, traceparent);
    expect(sdkIn(api)).toContain('@opentelemetry/sdk-trace-base');
    expect(sdkIn(worker)).toContain('@opentelemetry/sdk-trace-base');
    expect(worker).toMatch(new RegExp(`"traceId":"${traceId}".*"delivered"`));
    expect(collector.of(traceId, 'consumer')).toMatchObject([{ service: 'sluice-worker' }]);
    await collector.close();
  }, 60_000);

  it('a request that fails says in the log to which trace it belongs', async () => {
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
