import { type Aborted, CALLER_GONE_STATUS, type Outcome } from '../context/outcome.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Outgoing } from '../formats/outgoing.ts';
import type { Redaction } from '../wire/redaction.ts';
import type { AttemptEnd, AttemptState } from './attempt-state.ts';
import { outcomeOfHeld } from './held-stream.ts';
import type { IncomingAnswer } from './incoming-answer.ts';
import { errorWithin, isProviderError } from './whole-answer.ts';

/** The row's words for a stream that the gateway ended. */
const STOPPED = 'the gateway was stopped';

/** The facts of an attempt at its end. */
export interface EndedAttempt {
  readonly answer: IncomingAnswer;
  /** The state that ended. */
  readonly state: AttemptState;
  /** The error that the caller is told. */
  readonly error: GatewayError | undefined;
  readonly exchange: Pick<Exchange, 'id' | 'response'>;
  readonly outgoing: Pick<Outgoing, 'headersToCaller' | 'streamError'>;
  readonly redaction: Redaction | undefined;
  readonly receivedTokens: Promise<number> | undefined;
}

/** The outcome that an end amounts to. That of a whole answer is read elsewhere. */
export function outcomeOf(end: Exclude<AttemptEnd, 'answered'>, ended: EndedAttempt): Outcome {
  const { answer, exchange, outgoing, redaction } = ended;
  const { callersStream, held, readOn } = answer;
  // An answer is given up with the error that it was given up for.
  const error = readOn?.error ?? ended.error;
  switch (end) {
    case 'streamed': {
      if (!callersStream) throw missing(end);
      answer.endStream();
      const upstreamError = errorWithin(callersStream, redaction);
      const { tail = NOTHING } = answer;
      return {
        kind: 'streamed',
        status: exchange.response.statusCode,
        reading: callersStream,
        upstreamError,
        tail,
      };
    }
    case 'held':
      if (!held) throw missing(end);
      return outcomeOfHeld(held, outgoing, redaction);
    case 'refused':
      if (!error) throw missing(end);
      return { kind: 'refused', error, reading: answer.reading };
    case 'broken':
    case 'ended': {
      if (!error) throw missing(end);
      const termination = end === 'broken' ? 'upstream_stream_aborted' : 'proxy_guillotine';
      const told = callersStream && errorWithin(callersStream, redaction);
      const reason = (end === 'broken' ? told : undefined) ?? error.upstreamError ?? STOPPED;
      // An error is the last event, so that no client takes it for a broken connection. The provider's own is one.
      const last = told == null ? outgoing.streamError(error, exchange.id) : NOTHING;
      return aborted(ended, termination, reason, last);
    }
    case 'left':
      return aborted(ended, 'client_disconnect', null, undefined);
  }
}

const NOTHING = Buffer.alloc(0);

function aborted(
  { answer, state, exchange: { response }, receivedTokens }: EndedAttempt,
  termination: Aborted['termination'],
  upstreamError: string | null,
  finalEvent: Buffer | undefined,
): Aborted {
  const { stream, reading, head, readOn } = answer;
  return {
    kind: 'aborted',
    status: response.headersSent ? response.statusCode : CALLER_GONE_STATUS,
    termination,
    upstreamError,
    reading,
    isStream: stream !== undefined,
    isComplete: stream?.isComplete ?? true,
    hasWork: state !== 'connecting' && !isProviderError(head),
    isReadOn: readOn !== undefined,
    receivedTokens,
    finalEvent,
  };
}

function missing(end: AttemptEnd): Error {
  return new Error(`an attempt ended as ${end} without what that needs`);
}
