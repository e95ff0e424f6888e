import { aTrace, Collector } from '../../support/collector.js';
import { until } from '../../support/processes.js';
import { Fleet } from '../../support/fleet.js';

describe('With a collector', () => {
  let collector: Collector;
  let sluice: Fleet;

  beforeAll(async () => {
    collector = await Collector.start();
    sluice = await Fleet.startProcesses({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      MAX_ATTEMPTS: '2',
      ATTEMPT_TIMEOUT_MS: '2000',
    });
    await sluice.worker();
  }, 60_000);
  afterAll(async () => {
    await sluice.stop();
    await collector.close();
  });

  it('a request, its delivery and what the handler adds are one trace, part of the caller\u2019s', async () => {
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
  });

  it('what is kept with the message, and told to other workers, is the span of its request', async () => {
    const { traceId, traceparent } = aTrace();
    const id = await sluice.send('hello', { traceparent });
    const [request] = await collector.arrived(traceId, 'server');
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

  it('each attempt is a span, and tells how it ended', async () => {
    const { traceId, traceparent } = aTrace();
    await sluice.send('throw', { traceparent });
    const [request] = await collector.arrived(traceId, 'server');
    const attempts = await collector.arrived(traceId, 'consumer', 2);
    expect(attempts.map(({ attributes }) => attributes['sluice.attempt'])).toEqual([1, 2]);
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({ parentSpanId: request?.spanId, failed: true });
      expect(attempt.attributes).toMatchObject({ 'sluice.outcome': 'failed', 'error.type': 'Error' });
    }
  });

  it('an attempt whose time is up ends its span then', async () => {
    const { traceId, traceparent } = aTrace();
    await sluice.send('wait 600000', { traceparent });
    const [attempt] = await collector.arrived(traceId, 'consumer');
    expect(attempt).toMatchObject({ failed: true });
    expect(attempt?.attributes).toMatchObject({ 'sluice.outcome': 'timed out', 'error.type': 'timeout' });
  });

  it('a caller who does not sample is not sampled, and the delivery knows', async () => {
    const unsampled = aTrace('00');
    const id = await sluice.send('hello', { traceparent: unsampled.traceparent });
    const kept = await sluice.traceparent(id);
    expect(kept).toMatch(new RegExp(`^00-${unsampled.traceId}-[0-9a-f]{16}-00$`));
    expect(kept).not.toBe(unsampled.traceparent);
    await until(() => sluice.began(id, 1), 20_000);
    // What is exported arrives in its order, so by now the unsampled would have arrived.
    const sampled = aTrace();
    await sluice.send('hello', { traceparent: sampled.traceparent });
    await collector.arrived(sampled.traceId, 'server');
    await collector.arrived(sampled.traceId, 'consumer');
    expect(collector.of(unsampled.traceId)).toEqual([]);
  });

  it.each([
    ['has no such path', '/no/such/path', 'GET', 404],
    ['has no such thing', '/messages/msg_01m7z2rwrxewear45een1bwhvn', 'GET /messages/:id', 401],
  ])('a request that %s is a span without its path', async (_what, path, name, status) => {
    const { traceId, spanId, traceparent } = aTrace();
    await sluice.client.call({ path, headers: { traceparent } });
    const [request] = await collector.arrived(traceId, 'server');
    expect(request).toMatchObject({ name, parentSpanId: spanId, failed: false });
    expect(request?.attributes).toMatchObject({ 'http.response.status_code': status });
    expect(request?.attributes).not.toHaveProperty(['url.path']);
    expect(request?.attributes).not.toHaveProperty(['sluice.account.id']);
  });

  it('what may be asked of a path is told without it: nobody has looked for what it names', async () => {
    const { traceId, traceparent } = aTrace();
    const { status } = await sluice.client.call({
      method: 'OPTIONS',
      path: '/messages/slc_a-key',
      headers: { traceparent },
    });
    expect(status).toBe(204);
    const [request] = await collector.arrived(traceId, 'server');
    expect(request).toMatchObject({ name: 'OPTIONS' });
    expect(request?.attributes).not.toHaveProperty(['url.path']);
    expect(collector.received).not.toContain('slc_a-key');
  });

  it('a request whose caller has gone ends its span without a status', async () => {
    const { traceId, traceparent } = aTrace();
    const gone = new AbortController();
    const request = fetch(`${sluice.client.url}/messages`, {
      ...{ method: 'POST', signal: gone.signal, duplex: 'half' },
      headers: { authorization: `Bearer ${sluice.account.key}`, 'content-type': 'application/json', traceparent },
      body: new ReadableStream({
        start: (controller) => {
          controller.enqueue(Buffer.from('{"mess'));
        },
      }),
    }).catch(() => undefined);
    setTimeout(() => {
      gone.abort();
    }, 300);
    await request;
    const [span] = await collector.arrived(traceId, 'server');
    expect(span?.name).toBe('POST /messages');
    expect(span?.attributes).not.toHaveProperty(['http.response.status_code']);
  });

  it('nothing that a caller has written is told to the collector', async () => {
    const { traceId, traceparent } = aTrace();
    const secret = 'seven-secret-words';
    const headers = {
      traceparent,
      'user-agent': secret,
      'x-request-id': secret,
      'idempotency-key': secret,
      'x-forwarded-for': secret,
      cookie: secret,
    };
    await sluice.send(`throw ${secret}`, headers);
    await collector.arrived(traceId, 'server');
    await collector.arrived(traceId, 'consumer', 2);
    for (const path of [`/messages/${secret}`, `/${secret}?${secret}`, `/messages?cursor=${secret}&status=${secret}`]) {
      const another = aTrace();
      await sluice.client.call({
        path,
        headers: { ...headers, authorization: `Bearer ${sluice.account.key}`, traceparent: another.traceparent },
      });
      await collector.arrived(another.traceId, 'server');
    }
    const listed = aTrace();
    await sluice.client.call({
      path: `/messages?unknown=${secret}`,
      headers: { authorization: `Bearer ${sluice.account.key}`, traceparent: listed.traceparent },
    });
    expect((await collector.arrived(listed.traceId, 'server'))[0]?.attributes['url.path']).toBe('/messages');
    expect(collector.received).not.toContain(secret);
    expect(collector.received).not.toContain(sluice.account.key);
    expect(collector.received).not.toContain('as told');
  });
});

describe('The variables of OpenTelemetry', () => {
  it('name the service, sample, and bring headers for the collector', async () => {
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
  }, 60_000);
});
