export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface SpanStart {
  readonly kind: 'server' | 'consumer';
  /** Of few different values: what differs from one span to the next is in the attributes. */
  readonly name: string;
  /** The `traceparent` of the span that this one is part of; null begins a trace. */
  readonly parent: string | null;
  readonly attributes: SpanAttributes;
}

/** A piece of work, from its start to its end. */
export interface Span {
  /** This span as the parent of others, in this process or elsewhere. */
  readonly traceparent: string;
  /** Runs work inside the span: what OpenTelemetry's API begins there becomes a part of it. */
  run<T>(work: () => T): T;
  /**
   * The first call counts, the others do nothing.
   * @param errorType what kind of error ended it, of few different values; undefined when none did
   */
  end(attributes: SpanAttributes, errorType?: string): void;
}

/**
 * Tells a collector what this process does, by OpenTelemetry. No method throws, waits, or keeps more than a bounded
 * number of spans: those that a slow collector doesn't take are lost.
 */
export interface Tracing {
  start(span: SpanStart): Span;
  /** Exports what has ended, for at most this many milliseconds. */
  close(withinMs: number): Promise<void>;
}
