import { join } from 'node:path';
import { aTrace, Collector } from '../../support/collector.js';
import { postLines, RawConnection } from '../../support/http.js';
import { ROOT, until, type Program } from '../../support/processes.js';
import { Fleet } from '../../support/fleet.js';

const PRINT_MODULES = `--import ${join(ROOT, 'test/support/print-modules.mjs')}`;

/** Whether a program had loaded the SDK when it ended: it is in the bundle of the module that opens the tracing. */
async function hasLoadedSdk(program: Program): Promise<boolean> {
  expect(await program.end()).toBe(0);
  const modules = JSON.parse(/Modules: (.*)/.exec(program.output)?.[1] ?? 'null') as string[];
  expect(modules.some((name) => name.startsWith('chunk-'))).toBe(true);
  return modules.some((name) => name.startsWith('otlp-tracing'));
}

describe('With a collector', () => {
  let collector: Collector;
  let sluice: Fleet;

  beforeAll(async () => {
    collector = await Collector.start();
    sluice = await Fleet.startProcesses({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      NODE_OPTIONS: PRINT_MODULES,
      MAX_ATTEMPTS: '2',
      ATTEMPT_TIMEOUT_MS: '2000',
    });
    await sluice.worker();
  });
  afterAll(async () => {
    await sluice.stop();
    await collector.close();
  });

  it('a request, its delivery and the spans of the handler are one trace, part of the caller\u2019s', async () => {
    const { traceId, spanId, traceparent } = aTrace();
    const id = await sluice.send('span', { traceparent });
    const [request] = await collector.arrived(traceId, 'server');
    const [delivery] = await collector.arrived(traceId, 'consumer');
    const [work] = await collector.arrived(traceId, 'internal');

    expect(request).toMatchObject({ service: 'sluice-api', name: 'POST /messages', parentSpanId: spanId });
    expect(request?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/messages',
      'http.response.status_code': 202,
      'url.scheme': 'http',
      'url.path': '/messages',
      'network.protocol.version': '1.1',
      'sluice.account.id': expect.stringMatching(/^acct_/) as string,
    });
    expect(delivery).toMatchObject({
      ...{ service: 'sluice-worker', name: 'process messages', parentSpanId: request?.spanId, failed: false },
    });
    expect(delivery?.attributes).toEqual({
      'messaging.system': 'bullmq',
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.destination.name': 'messages',
      'messaging.message.id': id,
      'sluice.account.id': request?.attributes['sluice.account.id'],
      'sluice.attempt': 1,
      'sluice.outcome': 'delivered',
    });
    expect(work).toMatchObject({ name: 'work', parentSpanId: delivery?.spanId });
    expect(work?.attributes.traceparent).toBe(`00-${traceId}-${delivery?.spanId ?? ''}-01`);
    expect(collector.of(traceId)).toHaveLength(3);
    expect(await sluice.traceparent(id)).toBe(`00-${traceId}-${request?.spanId ?? ''}-01`);
  });

  it('a request that is part of no trace begins one', async () => {
    const id = await sluice.send('hello', { traceparent: 'none' });
    const [, traceId = '', spanId] = (await sluice.traceparent(id))?.split('-') ?? [];
    const [request] = await collector.arrived(traceId, 'server');
    const [delivery] = await collector.arrived(traceId, 'consumer');
    expect(request).toMatchObject({ spanId, parentSpanId: '' });
    expect(delivery).toMatchObject({ parentSpanId: spanId });
  });

  it.each([
    ['failed', 'Error', 'throw', 2],
    ['timed out', 'timeout', 'wait 600000', 1],
  ])('each attempt that %s is a span with its outcome', async (outcome, error, message, count) => {
    const { traceId, traceparent } = aTrace();
    await sluice.send(message, { traceparent });
    const [request] = await collector.arrived(traceId, 'server');
    const attempts = await collector.arrived(traceId, 'consumer', count);
    expect(attempts.map(({ attributes }) => attributes['sluice.attempt'])).toEqual([1, 2].slice(0, count));
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({ parentSpanId: request?.spanId, failed: true });
      expect(attempt.attributes).toMatchObject({ 'sluice.outcome': outcome, 'error.type': error });
    }
  });

  it('a request is not sampled when its caller does not sample, nor is its delivery', async () => {
    const unsampled = aTrace('00');
    const id = await sluice.send('hello', { traceparent: unsampled.traceparent });
    const kept = await sluice.traceparent(id);
    expect(kept).toMatch(new RegExp(`^00-${unsampled.traceId}-[0-9a-f]{16}-00$`));
    expect(kept).not.toBe(unsampled.traceparent);
    await until(() => sluice.began(id, 1));
    // Spans arrive in the order of their export, so unsampled ones would have arrived by now.
    const sampled = aTrace();
    await sluice.send('hello', { traceparent: sampled.traceparent });
    await collector.arrived(sampled.traceId, 'server');
    await collector.arrived(sampled.traceId, 'consumer');
    expect(collector.of(unsampled.traceId)).toEqual([]);
  });

  it.each([
    ['is unknown', 'GET', '/no/such/path', 'GET', 404],
    ['was not looked up', 'GET', '/messages/slc_a-key', 'GET /messages/:id', 401],
    ['is asked for its methods', 'OPTIONS', '/messages/slc_a-key', 'OPTIONS', 204],
  ])('a request whose path %s is a span without its path', async (_what, method, path, name, status) => {
    const { traceId, spanId, traceparent } = aTrace();
    await sluice.client.call({ method, path, headers: { traceparent } });
    const [request] = await collector.arrived(traceId, 'server');
    expect(request).toMatchObject({ name, parentSpanId: spanId, failed: false });
    expect(request?.attributes).toMatchObject({ 'http.response.status_code': status });
    expect(request?.attributes).not.toHaveProperty(['url.path']);
    expect(request?.attributes).not.toHaveProperty(['sluice.account.id']);
    expect(collector.received).not.toContain('slc_a-key');
  });

  it('a request whose client has gone ends its span without a status', async () => {
    const { traceId, traceparent } = aTrace();
    const connection = await RawConnection.open(sluice.client.url);
    const headers = [`traceparent: ${traceparent}`, 'Content-Length: 100', 'Expect: 100-continue'];
    connection.write(postLines(sluice.account.key, ...headers));
    expect((await connection.response()).status).toBe(100);
    connection.socket.resetAndDestroy();
    const [span] = await collector.arrived(traceId, 'server');
    expect(span?.name).toBe('POST /messages');
    expect(span?.attributes).not.toHaveProperty(['http.response.status_code']);
  });

  it('nothing that a caller has sent is exported', async () => {
    const { traceId, traceparent } = aTrace();
    const secret = 'seven-secret-words';
    const names = ['user-agent', 'x-request-id', 'idempotency-key', 'x-forwarded-for', 'cookie'];
    const headers = Object.fromEntries(names.map((name) => [name, secret]));
    await sluice.send(`throw ${secret}`, { ...headers, traceparent });
    await collector.arrived(traceId, 'server');
    await collector.arrived(traceId, 'consumer', 2);
    const get = async (path: string) => {
      const trace = aTrace();
      const authorization = `Bearer ${sluice.account.key}`;
      await sluice.client.call({ path, headers: { ...headers, authorization, traceparent: trace.traceparent } });
      return (await collector.arrived(trace.traceId, 'server'))[0];
    };
    for (const path of [`/messages/${secret}`, `/${secret}?${secret}`, `/messages?cursor=${secret}&status=${secret}`]) {
      await get(path);
    }
    expect((await get(`/messages?unknown=${secret}`))?.attributes['url.path']).toBe('/messages');
    expect(collector.received).not.toContain(secret);
    expect(collector.received).not.toContain(sluice.account.key);
    expect(collector.received).not.toContain('as requested');
  });

  // So that the test below can fail.
  it('the SDK is loaded', async () => {
    for (const program of [sluice.api, ...sluice.workers]) {
      expect(await hasLoadedSdk(program)).toBe(true);
    }
  });
});

it('Without a collector nothing of the SDK is loaded, and the caller\u2019s trace is passed on anyway', async () => {
  const sluice = await Fleet.startProcesses({ NODE_OPTIONS: PRINT_MODULES });
  try {
    const worker = await sluice.worker({}, 'dist/apps/worker/main.js');
    const { traceId, traceparent } = aTrace();
    const id = await sluice.send('hello', { traceparent });
    await worker.printed(new RegExp(`"traceId":"${traceId}".*"delivered"`));
    expect(await sluice.traceparent(id)).toBe(traceparent);
    for (const program of [sluice.api, worker]) expect(await hasLoadedSdk(program)).toBe(false);
  } finally {
    await sluice.stop();
  }
});

describe('The variables of OpenTelemetry', () => {
  it('set the name of the service, the sampling, and the headers for the collector', async () => {
    const collector = await Collector.start();
    const sluice = await Fleet.startProcesses({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_SERVICE_NAME: 'front-door',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
    });
    try {
      const unsampled = await sluice.send('hello');
      expect(await sluice.traceparent(unsampled)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
      const { traceId, traceparent } = aTrace();
      await sluice.send('hello', { traceparent });
      expect(await collector.arrived(traceId, 'server')).toMatchObject([{ service: 'front-door' }]);
      expect(collector.received).toContain('"authorization":"Bearer collector"');
      expect(collector.spans).toHaveLength(1);
    } finally {
      await sluice.stop();
      await collector.close();
    }
  });
});
