import {
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { Span, SpanAttributes, Tracing } from '../tracing.ts';

/** Traces with a tracer of OpenTelemetry. */
export function createTracing(tracer: Tracer): Tracing {
  return {
    begin(name, traceparent) {
      // One that is not valid is ignored, as the standard has it: the request begins a trace.
      const parent = traceparent === undefined ? null : parseTraceParent(traceparent);
      const context = parent
        ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
        : ROOT_CONTEXT;
      return new OpenSpan(tracer, tracer.startSpan(name, { kind: SpanKind.SERVER }, context));
    },
  };
}

class OpenSpan implements Span {
  readonly #tracer: Tracer;
  readonly #span: OtelSpan;

  constructor(tracer: Tracer, span: OtelSpan) {
    this.#tracer = tracer;
    this.#span = span;
  }

  get isSampled(): boolean {
    return this.#span.isRecording();
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  }

  begin(name: string, attributes: SpanAttributes): Span {
    const context = trace.setSpan(ROOT_CONTEXT, this.#span);
    const span = this.#tracer.startSpan(
      name,
      { kind: SpanKind.CLIENT, attributes: said(attributes) },
      context,
    );
    return new OpenSpan(this.#tracer, span);
  }

  end(attributes: SpanAttributes, error?: string, name?: string): void {
    if (this.isSampled) {
      if (name !== undefined) this.#span.updateName(name);
      this.#span.setAttributes(said(attributes));
      if (error !== undefined) {
        this.#span.setAttribute('error.type', error);
        this.#span.setStatus({ code: SpanStatusCode.ERROR });
      }
    }
    this.#span.end();
  }
}

function said(attributes: SpanAttributes): Record<string, string | number | boolean> {
  const some: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) some[name] = value;
  return some;
}
