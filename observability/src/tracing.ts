/** The attributes of a span. Never a prompt, an answer or a secret. Undefined values are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A piece of work in a trace. Where its trace is not sampled, it only passes the context on. */
export interface Span {
  /** True if what is said of it will be kept. */
  readonly isSampled: boolean;
  /** The W3C header that continues the trace below this span. */
  readonly traceparent: string;
  /** Begins a call to another service. */
  begin(name: string, attributes: SpanAttributes): Span;
  /** To be called once. With an error the span counts as failed. */
  end(attributes: SpanAttributes, error?: string, name?: string): void;
}

export interface Tracing {
  /** Begins the span of a request. `traceparent` is the header that came with it, if one did. */
  begin(name: string, traceparent: string | undefined): Span;
}
