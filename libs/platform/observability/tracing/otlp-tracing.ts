import {
  context,
  diag,
  DiagLogLevel,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { parseTraceParent, setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { withTimeout } from '#kernel/timeout.js';
import type { Logger } from '../logging.js';
import type { Span, SpanAttributes, SpanStart, Tracing } from './tracing.js';

/** The minimum time between two log lines about failed exports. */
const REPORT_EVERY_MS = 60_000;

const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER };

/** Exports spans by OTLP over HTTP. The SDK reads OpenTelemetry's standard environment variables. */
export class OtlpTracing implements Tracing {
  private readonly provider: BasicTracerProvider;
  private readonly tracer;
  private reportedAt = -Infinity;

  constructor(
    serviceName: string,
    private readonly logger: Logger,
  ) {
    const resource = defaultResource()
      .merge(resourceFromAttributes({ 'service.name': serviceName }))
      .merge(detectResources({ detectors: [envDetector] }));
    const spanProcessors = [new BatchSpanProcessor(new OTLPTraceExporter())];
    this.provider = new BasicTracerProvider({ resource, spanProcessors });
    this.tracer = this.provider.getTracer('sluice');
    // For handlers that use OpenTelemetry's API. If another SDK was registered before, these calls have no effect.
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    trace.setGlobalTracerProvider(this.provider);
    this.reportErrors();
  }

  start({ kind, name, parent, attributes }: SpanStart): Span {
    const parentContext = parent === null ? null : parseTraceParent(parent);
    const outer =
      parentContext === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parentContext, isRemote: true });
    const span = this.tracer.startSpan(name, { kind: KINDS[kind], attributes }, outer);
    const { traceId, spanId, traceFlags } = span.spanContext();
    let ended = false;
    return {
      traceparent: `00-${traceId}-${spanId}-0${traceFlags.toString(16)}`,
      run: (work) => context.with(trace.setSpan(outer, span), work),
      end: (outcome: SpanAttributes, errorType) => {
        if (ended) return;
        ended = true;
        span.setAttributes(outcome);
        if (errorType !== undefined) {
          span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  }

  async close(withinMs: number): Promise<void> {
    const exported = this.provider.shutdown().catch((error: unknown) => {
      this.report(error);
    });
    await withTimeout(exported, withinMs, () => undefined);
    for (const api of [trace, propagation, context, diag]) api.disable();
  }

  private reportErrors(): void {
    setGlobalErrorHandler((error) => {
      this.report(error);
    });
    // The SDK logs here how many spans it dropped.
    const warn = (...args: unknown[]) => {
      this.report({ message: args.filter((arg) => typeof arg === 'string').join(': ') });
    };
    const ignore = () => undefined;
    const logger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
    diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  }

  // Only the message: the error may contain the collector's response.
  private report(error: unknown): void {
    const now = performance.now();
    if (now - this.reportedAt < REPORT_EVERY_MS) return;
    this.reportedAt = now;
    const { message = '', code = 'no response' } = error as { message?: string; code?: string };
    this.logger.warn({ reason: message === '' ? code : message }, 'traces could not be exported');
  }
}
