export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface SpanStart {
  readonly kind: 'server' | 'consumer';
  /** Of low cardinality; details belong in the attributes. */
  readonly name: string;
  /** The `traceparent` of the parent span; null starts a new trace. */
  readonly parent: string | null;
  readonly attributes: SpanAttributes;
}

export interface Span {
  /** Identifies this span as a parent, in this process or another. */
  readonly traceparent: string;
  /** Runs work with this span as the active one of OpenTelemetry's API. */
  run<T>(work: () => T): T;
  /**
   * Only the first call has an effect.
   * @param errorType the kind of error that ended it, of low cardinality
   */
  end(attributes: SpanAttributes, errorType?: string): void;
}

/**
 * Exports spans to an OpenTelemetry collector. No method throws or blocks. The number of buffered spans is bounded;
 * spans that a slow collector doesn't accept are lost.
 */
export interface Tracing {
  start(span: SpanStart): Span;
  /** Exports the spans that have ended, for at most `withinMs` milliseconds. */
  close(withinMs: number): Promise<void>;
}
