import type { Surface } from '@gatehouse/contract';
import { countTokens } from '../tokens/count-tokens.ts';
import { isTooComplex, parseJson } from '../wire/answer-json.ts';
import { parseExact } from '../wire/exact-json.ts';
import type { JsonObject } from '../wire/json.ts';
import { redactionOf } from '../wire/redaction.ts';
import type { AnswerContent, Format, StreamOptions } from './format.ts';
import { type AnswerTranslation, formatOf, openCallersStream } from './formats.ts';
import { readErrorMessage } from './peculiarities/error-message.ts';
import type { CountTokens, Usage } from './protocol.ts';
import { errorOfAnswer, errorToKeep, valueIn } from './provider-error.ts';
import { translateAnswer, translateError } from './translation/index.ts';

// Reading a provider's whole answer is a pure function from its bytes to facts, like reading a request: it runs on the
// main thread for a small answer, in a reader thread for a large one.

/** How an answer is to be read. */
export interface AnswerForm {
  /** Whose format it has. */
  readonly surface: Surface;
  readonly status: number;
  /** The credential that the provider was sent, and that is redacted; undefined where there was none. */
  readonly secret: string | undefined;
  readonly translation?: AnswerTranslation | undefined;
  /** Given where the caller asked for a stream: it gets the answer as one. */
  readonly stream?: Pick<StreamOptions, 'showsUsage' | 'choices'> | undefined;
}

/** All that the gateway keeps of an answer, beside its bytes. */
export interface AnswerFacts extends Omit<AnswerContent, 'generated' | 'value'> {
  /** True if it is an answer of the surface. If not, only usage and an error are known. */
  readonly isAnswer: boolean;
  readonly generatedTokens: number;
}

const NOTHING = { usage: undefined, hasContent: false, hasReasoning: false, generatedTokens: 0 };

// Some servers write them around their JSON, where no parser takes them.
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const END_MARK = /\s*data: ?\[DONE\]\s*$/;
const MAX_MARK_BYTES = 32;

/** The facts of an answer, with as many generated tokens as `count` says, and its bytes without the credential. */
export async function readAnswer(
  bytes: Buffer<ArrayBuffer>,
  { surface, status, secret, translation, stream }: AnswerForm,
  count: CountTokens = countTokens,
): Promise<{ readonly result: AnswerFacts; readonly body: Buffer<ArrayBuffer> }> {
  const format = formatOf(surface);
  const redaction = redactionOf(secret);
  const unmarked = withoutMarks(bytes);
  const body = redaction?.bytes(unmarked) ?? unmarked;
  if (status >= 400) {
    const upstreamError = errorOfAnswer(body, redaction);
    return {
      result: { ...NOTHING, isAnswer: false, upstreamError },
      body: translation ? translatedError(surface, status, body, translation) : body,
    };
  }
  const content = format.readAnswer(body);
  const shown =
    content?.value && (stream || translation)
      ? shownAnswer(surface, content.value, body, translation, stream)
      : body;
  if (!content || !shown) {
    const value = content || isTooComplex(unmarked) ? undefined : parseJson(unmarked.toString());
    const said = content ? content.upstreamError : (readErrorMessage(value ?? valueIn(unmarked)) ?? null);
    const upstreamError = said === null ? null : errorToKeep(said, redaction);
    // An answer that cannot be read, or not be said to the caller, may state its usage all the same. What was read and is none was no work.
    const usage = value === undefined ? usageIn(bytes, format) : undefined;
    return { result: { ...NOTHING, isAnswer: false, usage, upstreamError }, body };
  }
  const { usage, hasContent, hasReasoning, responseId, generated, upstreamError } = content;
  return {
    result: {
      ...{ usage, hasContent, hasReasoning, responseId },
      isAnswer: true,
      generatedTokens: await generated.countTokens(count),
      upstreamError: upstreamError === null ? null : errorToKeep(upstreamError, redaction),
    },
    body: shown,
  };
}

function withoutMarks(bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  const { length } = BYTE_ORDER_MARK;
  const start = bytes.subarray(0, length).equals(BYTE_ORDER_MARK) ? length : 0;
  const isObject = /^\s*\{/.test(bytes.toString('latin1', start, start + MAX_MARK_BYTES));
  const [mark = ''] = (isObject && END_MARK.exec(bytes.subarray(-MAX_MARK_BYTES).toString('latin1'))) || [];
  return bytes.subarray(start, bytes.length - mark.length);
}

function usageIn(bytes: Buffer, format: Format): Usage | undefined {
  const reader = format.openUsage();
  reader.push(bytes);
  return reader.usage;
}

/** The answer as its caller reads it; undefined where the provider's cannot be said so. */
function shownAnswer(
  surface: Surface,
  value: JsonObject,
  body: Buffer,
  translation: AnswerForm['translation'],
  stream: AnswerForm['stream'],
): Buffer<ArrayBuffer> | undefined {
  const exact = () => parseExact(body.toString()) as JsonObject;
  const { eventsOf } = formatOf(surface);
  if (stream && eventsOf) {
    const reading = openCallersStream(surface, translation, stream);
    const passed = Buffer.concat([reading.push(Buffer.from(eventsOf(exact()))), reading.end()]);
    return reading.isComplete ? passed : undefined;
  }
  if (!translation) return undefined;
  const { to, notes } = translation;
  const answer = translateAnswer(surface, to, value, notes, exact);
  return answer && Buffer.from(JSON.stringify(answer));
}

function translatedError(
  surface: Surface,
  status: number,
  body: Buffer<ArrayBuffer>,
  { to, notes }: AnswerTranslation,
): Buffer<ArrayBuffer> {
  const dialects = { from: formatOf(surface).dialect, to: formatOf(to).dialect };
  return translateError(status, body, dialects, notes.requestId);
}
