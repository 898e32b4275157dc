import type { Surface } from '@gatehouse/contract';
import { countTokens } from '../tokens/count-tokens.ts';
import { errorOfAnswer, errorToKeep } from '../upstreams/failures.ts';
import { parseJson } from './answer-json.ts';
import { parseExact } from './exact-json.ts';
import type { AnswerContent } from './format.ts';
import { formatOf } from './formats.ts';
import type { JsonObject } from './json.ts';
import type { CountTokens } from './protocol.ts';
import { redactionOf } from './redaction.ts';
import { type TranslationNotes, translateAnswer, translateError } from './translation/index.ts';

// Reading a provider's whole answer is a pure function from its bytes to facts, like reading a request: it runs on the
// main thread for a small answer, in a reader thread for a large one.

/** How an answer is to be read. */
export interface AnswerForm {
  /** Whose format it has. */
  readonly surface: Surface;
  readonly status: number;
  /** The credential that the provider was sent, and that is redacted; undefined where there was none. */
  readonly secret: string | undefined;
  /** The translation, where the caller reads another format. */
  readonly translation?: AnswerTranslation | undefined;
}

export interface AnswerTranslation {
  readonly to: Surface;
  readonly notes: TranslationNotes;
}

/** All that the gateway keeps of an answer, beside its bytes. */
export interface AnswerFacts extends Omit<AnswerContent, 'generated'> {
  /** True if it is an answer of the surface. If not, only usage and an error are known. */
  readonly isAnswer: boolean;
  readonly generatedTokens: number;
}

const NOTHING = { usage: undefined, hasContent: false, hasReasoning: false, generatedTokens: 0 };

/** The facts of an answer, with as many generated tokens as `count` says, and its bytes without the credential. */
export async function readAnswer(
  bytes: Buffer<ArrayBuffer>,
  { surface, status, secret, translation }: AnswerForm,
  count: CountTokens = countTokens,
): Promise<{ readonly result: AnswerFacts; readonly body: Buffer<ArrayBuffer> }> {
  const format = formatOf(surface);
  const redaction = redactionOf(secret);
  const body = redaction?.bytes(bytes) ?? bytes;
  if (status >= 400) {
    const upstreamError = errorOfAnswer(body, redaction);
    return {
      result: { ...NOTHING, isAnswer: false, upstreamError },
      body: translation ? translatedError(surface, status, body, translation) : body,
    };
  }
  const content = format.readAnswer(bytes);
  const shown = content && translation ? translatedAnswer(surface, body, translation) : body;
  if (!content || !shown) {
    // What cannot be read as an answer may state its usage all the same.
    const usage = format.openUsage();
    usage.push(bytes);
    const said = content?.upstreamError ?? null;
    const upstreamError = said === null ? null : errorToKeep(said, redaction);
    return { result: { ...NOTHING, isAnswer: false, usage: usage.usage, upstreamError }, body };
  }
  const { generated, upstreamError, ...others } = content;
  return {
    result: {
      ...others,
      isAnswer: true,
      generatedTokens: await generated.countTokens(count),
      upstreamError: upstreamError === null ? null : errorToKeep(upstreamError, redaction),
    },
    body: shown,
  };
}

/** The answer in the caller's format; undefined where the provider's cannot be said in it. */
function translatedAnswer(
  surface: Surface,
  body: Buffer,
  { to, notes }: AnswerTranslation,
): Buffer<ArrayBuffer> | undefined {
  const text = body.toString();
  const exact = () => parseExact(text) as JsonObject;
  const answer = translateAnswer(surface, to, parseJson(text), notes, exact);
  return answer && Buffer.from(JSON.stringify(answer));
}

function translatedError(
  surface: Surface,
  status: number,
  body: Buffer<ArrayBuffer>,
  { to, notes }: AnswerTranslation,
): Buffer<ArrayBuffer> {
  const { dialect } = formatOf(to);
  if (formatOf(surface).dialect === dialect) return body;
  return Buffer.from(translateError(status, body, dialect, notes.requestId));
}
