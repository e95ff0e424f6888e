import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { listen, until } from './processes.js';

interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
}

/** The parts of OTLP's JSON that tests use. */
interface Export {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: ExportedSpan[] }[] }[];
}
interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number };
}
interface ExportedSpan extends Pick<CollectedSpan, 'name' | 'traceId' | 'spanId'> {
  kind: number;
  parentSpanId?: string;
  attributes: Attribute[];
  status: { code: number };
}

/** A new trace. */
export function aTrace(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const ERROR = 2;

/** A collector of OpenTelemetry for spans. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  /** All headers and bodies received. */
  received = '';

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {
    server.on('request', (request, response) => {
      const receive = (body: Buffer) => {
        const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
        this.received += `${JSON.stringify(request.headers)}\n${text}\n`;
        if (request.url === '/v1/traces') this.spans.push(...spansOf(JSON.parse(text) as Export));
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      };
      // A process that is killed leaves its request incomplete.
      buffer(request).then(receive, () => undefined);
    });
  }

  static async start(): Promise<Collector> {
    const server = createServer();
    return new Collector(server, await listen(server));
  }

  of(traceId: string, kind?: string): CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId && (kind === undefined || span.kind === kind));
  }

  /** Resolves to the spans of one kind in a trace, in their order of arrival, when there are this many. */
  async arrived(traceId: string, kind: string, count = 1): Promise<CollectedSpan[]> {
    await until(
      () => this.of(traceId, kind).length >= count,
      60_000,
      () => JSON.stringify(this.of(traceId)),
    );
    return this.of(traceId, kind);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

function spansOf({ resourceSpans }: Export): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ name, traceId, spanId, parentSpanId = '', kind, attributes, status }) => ({
        ...{ name, traceId, spanId, parentSpanId, kind: KINDS[kind] ?? '', attributes: valuesOf(attributes) },
        ...{ service: String(valuesOf(resource.attributes)['service.name']), failed: status.code === ERROR },
      })),
  );
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
}
