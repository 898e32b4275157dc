import type { Surface } from '@gatehouse/contract';
import type { Span, SpanAttributes } from '@gatehouse/observability';
import type { Sent } from '../context/context.ts';
import type { Outcome } from '../context/outcome.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { OWN_CREDENTIAL } from '../routing/candidate.ts';
import { endingOf } from './last-attempt.ts';

// Names and attributes are OpenTelemetry's for calls of generative models, with our own beside them. What was asked and
// what was answered is never among them.

const OPERATIONS: Readonly<Partial<Record<Surface, string>>> = {
  completions: 'text_completion',
  embeddings: 'embeddings',
};

const SERVED: ReadonlySet<string> = new Set(['served', 'client_disconnect']);

/** Begins the span of an attempt; undefined where nothing is traced. */
export function beginAttempt(sent: Sent, { span }: Pick<Exchange, 'span'>): Span | undefined {
  if (!span) return undefined;
  const operation = OPERATIONS[sent.outgoing.surface] ?? 'chat';
  return span.begin(
    `${operation} ${sent.candidate.target.upstreamModel}`,
    span.isSampled ? attributesOf(sent, operation) : {},
  );
}

function attributesOf({ candidate, outgoing }: Sent, operation: string): SpanAttributes {
  const { target, isByok, credential } = candidate;
  const { provider, upstreamModel } = target;
  const url = provider.baseUrl === null ? null : URL.parse(provider.baseUrl);
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': provider.name,
    'gen_ai.request.model': upstreamModel,
    'gatehouse.stream': outgoing.isStream,
    'gatehouse.credential': isByok ? OWN_CREDENTIAL : credential?.name,
    'server.address': url?.hostname,
    'server.port': url ? Number(url.port) || DEFAULT_PORTS[url.protocol] : undefined,
  };
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Ends it. Without an outcome the attempt failed in the gateway. */
export function endAttempt(span: Span | undefined, exchange: Exchange, outcome: Outcome | undefined): void {
  if (!span) return;
  if (!span.isSampled || !outcome) {
    span.end({}, outcome ? undefined : 'internal_error');
    return;
  }
  const { upstreamStatus, firstTokenAtMs, attemptStartedAtMs = 0 } = exchange;
  const ending = endingOf(outcome, upstreamStatus ?? null, exchange.stopReason === 'caller_gone');
  const usage = outcome.reading?.usage;
  span.end(
    {
      'http.response.status_code': upstreamStatus,
      'gatehouse.ending': ending,
      'gatehouse.first_token_ms':
        firstTokenAtMs === undefined ? undefined : firstTokenAtMs - attemptStartedAtMs,
      'gen_ai.usage.input_tokens': usage?.promptTokens,
      'gen_ai.usage.output_tokens': usage?.completionTokens,
    },
    SERVED.has(ending) ? undefined : ending === 'error_status' ? String(upstreamStatus) : ending,
  );
}

/** The request, with the trace in its headers where the provider is told of it. */
export function traced(
  sent: Sent,
  span: Span | undefined,
  toldProviders: ReadonlySet<string> | undefined,
): Sent {
  if (!span || !toldProviders?.has(sent.candidate.target.provider.name)) return sent;
  const { outgoing } = sent;
  return {
    ...sent,
    outgoing: { ...outgoing, headers: { ...outgoing.headers, traceparent: span.traceparent } },
  };
}
