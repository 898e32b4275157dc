import type { Surface } from '@gatehouse/contract';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { UpstreamHeaders } from '../wire/headers.ts';
import type { StreamReading, UsageReader } from './protocol.ts';
import type { AnswerForm } from './read-answer.ts';

/** A request as the provider gets it, and how its answer is read. */
export interface Outgoing {
  /** The surface that the provider is asked for. */
  readonly surface: Surface;
  /** Follows the provider's base URL. */
  readonly path: string;
  /** Added to the address, by name; not yet encoded. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** True if the caller wants a stream. */
  readonly isStream: boolean;
  /** The body. To be called once: it is handed over. */
  takeBody(): Buffer;
  /** The headers that the caller sees of the provider's answer. */
  headersToCaller(status: number, headers: UpstreamHeaders): Record<string, string>;
  /** Reads a stream on its way to the caller. */
  openStream(): CallersStream;
  /** Reads a stream that no caller sees. */
  openUnseenStream(): StreamReading;
  /** Reads the usage alone out of an answer that comes whole. */
  openUsage(): UsageReader;
  /** The last event of a stream that the gateway ends, in the caller's format; undefined where there are no events. */
  streamError(error: GatewayError, requestId: string): Buffer | undefined;
  /** True if JSON is passed on as it comes, as a stream is, instead of being read whole. */
  readonly passesWhole: boolean;
  /** How an answer that comes whole is read. */
  readonly answerForm: Omit<AnswerForm, 'status'>;
}

/** A stream that a caller gets. */
export interface CallersStream extends StreamReading {
  /** An event that keeps it alive while it is silent; left out where the provider's own do that. */
  ping?(): Buffer;
}
