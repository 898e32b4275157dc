import type { Logger } from 'pino';
import { ByteBlocks, joinBlocks } from '../bodies/byte-blocks.ts';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import type { Outcome } from '../context/outcome.ts';
import { type GatewayError, serviceUnavailable } from '../errors/gateway-error.ts';
import { credentialRejected, upstreamFailed } from '../errors/upstream-errors.ts';
import type { Outgoing } from '../formats/outgoing.ts';
import { inAnthropicsWords, isTooLong } from '../formats/peculiarities/context-length.ts';
import type { AnswerReading, Usage } from '../formats/protocol.ts';
import { errorToKeep } from '../formats/provider-error.ts';
import { unusableHead } from '../providers/headers.ts';
import { ReadError, type ReadFailure } from '../readers/reader-lane.ts';
import { isEventStream, isJson, type UpstreamHeaders } from '../wire/headers.ts';
import type { Redaction } from '../wire/redaction.ts';
import { areEventsAt } from '../wire/sse.ts';

/**
 * The largest answer that is read whole. The longest text that models write is half a megabyte; the rest is for
 * several choices, for the likelihoods of tokens, and for some pictures.
 */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** The reason in the log and the request's row where an answer is given up for want of memory. */
export const NO_ROOM = 'there was no memory left for the answer';

/** The same where no reader thread read it in time. */
const NOT_READ_IN_TIME = 'the gateway did not read the answer in time';

/** The error of a stream that its provider ended without an end. */
export const CUT_SHORT = 'the stream ended before the answer did';

export interface Head {
  readonly status: number;
  readonly headers: UpstreamHeaders;
}

/** The head of an answer that the caller gets as events, whatever the provider called it. */
export function asEvents({ status, headers }: Head): Head {
  return { status, headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8' } };
}

/** The headers of an answer that the caller gets whole, though the provider called it a stream. */
function asWhole(headers: UpstreamHeaders): UpstreamHeaders {
  return isEventStream(headers) ? { ...headers, 'content-type': 'application/json' } : headers;
}

/** True if the provider answered that it will not do it, or something that is no answer. */
export function isProviderError(head: Head | undefined): boolean {
  return head !== undefined && (head.status >= 400 || unusableHead(head.status, head.headers) !== undefined);
}

/** True if the answer is passed on as it comes, instead of being read whole first. */
export function isPassedOn(
  { status, headers }: Head,
  { isStream, passesWhole }: Pick<Outgoing, 'isStream' | 'passesWhole'>,
): boolean {
  return status < 300 && (isEventStream(headers) ? isStream : passesWhole && isJson(headers));
}

/** Bytes enough to tell whether a body is a stream of events. */
const MAX_SNIFFED_BYTES = 64;

/** An answer that is read whole, as far as it has come. Where a stream was asked for, events are told from it whatever its content type is. */
export class CollectedAnswer {
  readonly blocks = new ByteBlocks(undefined, Number.MAX_SAFE_INTEGER);
  areEvents = false;
  /** The first bytes, until it is clear whether they are those of events. */
  #start: string | undefined;

  constructor(mayBeEvents: boolean) {
    this.#start = mayBeEvents ? '' : undefined;
  }

  append(chunk: Buffer): void {
    this.blocks.append(chunk);
    if (this.#start === undefined) return;
    this.#start += chunk.toString('latin1', 0, MAX_SNIFFED_BYTES);
    const areEvents = areEventsAt(this.#start);
    this.areEvents = areEvents === true;
    if (areEvents !== undefined || this.#start.length >= MAX_SNIFFED_BYTES) this.#start = undefined;
  }

  /** All that has come. To be called once: it is handed over. */
  take(): Buffer {
    return joinBlocks(this.blocks.take());
  }
}

/** The outcome that a whole answer amounts to. A large one is read in a reader thread, to which its memory moves. */
export async function readWholeAnswer(
  head: Head,
  blocks: ByteBlocks,
  context: Pick<Context, 'key' | 'route' | 'sent'>,
  requestId: string,
  { readers, log }: Pick<Dependencies, 'readers' | 'log'>,
): Promise<Outcome> {
  const { status } = head;
  const isError = status >= 400;
  const form = { ...context.sent.outgoing.answerForm, status };
  const read = await readers.read(context.key.organizationId, 'answer', form, blocks).done.catch(unread);
  if (read instanceof ReadError) {
    const error = unreadAnswer(read.failure);
    return { kind: 'refused', error, reading: isError ? undefined : unshown(undefined) };
  }
  const { result: facts, body } = read;
  const { isAnswer, generatedTokens, upstreamError, ...others } = facts;
  if (!isError && !isAnswer) {
    const error =
      upstreamError === null
        ? brokenAnswer('answered with something that is no completion')
        : failedAnswer(upstreamError);
    return { kind: 'refused', error, reading: facts.usage && unshown(facts.usage) };
  }
  const reading: AnswerReading | undefined = isAnswer
    ? {
        ...others,
        isUsageFinal: facts.usage !== undefined,
        countGenerated: async () => generatedTokens,
        upstreamError,
      }
    : undefined;
  const { outgoing } = context.sent;
  const shown = outgoing.isStream ? asEvents(head).headers : asWhole(head.headers);
  const headers = outgoing.headersToCaller(status, isAnswer ? shown : head.headers);
  const answered = { kind: 'answered', status, headers, body, reading, upstreamError } as const;
  return checkRejection(answered, context, requestId, log);
}

/** 503 where the gateway had too much to read: that says nothing of the provider. 502 for an answer that is too much for a reader thread. */
function unreadAnswer(failure: ReadFailure): GatewayError {
  switch (failure) {
    case 'queue_full':
    case 'not_begun_in_time':
    case 'not_read_in_time':
      return serviceUnavailable('proxy_guillotine', NOT_READ_IN_TIME);
    case 'too_large':
    case 'thread_ended':
      return brokenAnswer(`sent an answer that was not read: ${failure}`);
  }
}

function unread(error: unknown): ReadError {
  if (error instanceof ReadError) return error;
  throw error;
}

/** The reading of an answer of which at most the usage was read. */
export function unshown(usage: Usage | undefined): AnswerReading {
  return {
    usage,
    isUsageFinal: usage !== undefined,
    hasContent: true,
    hasReasoning: false,
    countGenerated: async () => 0,
    upstreamError: null,
  };
}

/** The error of a stream, in the form in which it is kept. */
export function errorWithin(
  { upstreamError }: AnswerReading,
  redaction: Redaction | undefined,
): string | null {
  return upstreamError === null ? null : errorToKeep(upstreamError, redaction);
}

export function brokenAnswer(reason: string): GatewayError {
  return upstreamFailed('The provider did not give a usable answer.', reason);
}

/** The same where the provider said why. A conversation that is too long is told in the words that clients know. */
export function failedAnswer(words: string): GatewayError {
  const message = isTooLong(words)
    ? inAnthropicsWords(words)
    : `The provider did not give a usable answer: ${words}`;
  return upstreamFailed(message, words);
}

const REJECTED: ReadonlySet<number> = new Set([401, 403]);

/**
 * A rejected platform credential is the operator's to fix: the caller's key is valid, and a 401 would say otherwise. With
 * the organisation's own provider key the answer passes as it came.
 */
function checkRejection(
  outcome: Outcome,
  { route: { id }, sent: { candidate } }: Pick<Context, 'route' | 'sent'>,
  requestId: string,
  log: Pick<Logger, 'error'>,
): Outcome {
  const { isByok, target } = candidate;
  const { provider } = target;
  if (isByok || outcome.kind !== 'answered' || !REJECTED.has(outcome.status)) return outcome;
  const { status, upstreamError } = outcome;
  log.error(
    {
      event: 'provider.credential_rejected',
      request_id: requestId,
      route: id,
      provider: provider.name,
      status,
      upstream_error: upstreamError,
    },
    "provider rejected the platform's credential",
  );
  return { kind: 'refused', error: credentialRejected(provider.name, status) };
}
