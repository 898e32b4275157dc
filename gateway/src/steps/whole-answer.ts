import { type Refusal, upstreamFailed } from '../http/refusal.ts';
import type { Ending } from '../pipeline/ending.ts';
import type { AnswerReading, Call } from '../protocols/protocol.ts';
import type { Redaction } from '../protocols/redaction.ts';
import { errorOfAnswer, errorToKeep } from '../upstreams/failures.ts';
import { passedHeaders, unusableHead } from '../upstreams/headers.ts';
import type { UpstreamHeaders } from '../upstreams/upstream.ts';
import { unshown } from './read-on.ts';

/** What the log and the request's row say where an answer is given up for want of memory. */
export const NO_ROOM = 'there was no memory left for the answer';

export interface Head {
  readonly status: number;
  readonly headers: UpstreamHeaders;
}

/** Whether the provider answered that it will not do it, or something that is no answer. */
export function isProviderError(head: Head | undefined): boolean {
  return head !== undefined && (head.status >= 400 || unusableHead(head.status, head.headers) !== undefined);
}

/** The ending that an answer amounts to which came whole. */
export function wholeAnswer(
  head: Head,
  collected: Buffer,
  call: Call,
  redaction: Redaction | undefined,
): Ending {
  const { status } = head;
  const isError = status >= 400;
  const reading = isError ? undefined : call.readAnswer(collected);
  if (!isError && !reading) return noAnswer(collected, call);
  const body = redaction?.bytes(collected) ?? collected;
  return {
    kind: 'answered',
    status,
    headers: passedHeaders(head.headers, redaction),
    body,
    reading,
    upstreamError: isError ? errorOfAnswer(body, redaction) : errorWithin(reading, redaction),
  };
}

/** What cannot be read as an answer may say all the same what it used. */
function noAnswer(collected: Buffer, call: Call): Ending {
  const usage = call.openUsage();
  usage.push(collected);
  return {
    kind: 'refused',
    refusal: brokenAnswer('answered with something that is no completion'),
    reading: usage.usage && unshown(usage),
  };
}

/** What an answer that is none says of its own accord, in the form in which it is kept. */
export function errorWithin(
  reading: AnswerReading | undefined,
  redaction: Redaction | undefined,
): string | null {
  const said = reading?.upstreamError;
  return typeof said === 'string' ? errorToKeep(said, redaction) : null;
}

export function brokenAnswer(reason: string): Refusal {
  return upstreamFailed('The provider did not give a usable answer.', reason);
}
