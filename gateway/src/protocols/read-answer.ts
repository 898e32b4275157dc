import type { Surface } from '@gatehouse/contract';
import { countTokens } from '../tokens/count-tokens.ts';
import { errorOfAnswer, errorToKeep } from '../upstreams/failures.ts';
import type { AnswerContent } from './format.ts';
import { formatOf } from './formats.ts';
import { redactionOf } from './redaction.ts';

// Reading a provider's whole answer is a pure function from its bytes to facts, like reading a request: it runs on the
// main thread for a small answer, in a reader thread for a large one.

/** How an answer is to be read. */
export interface AnswerForm {
  /** Whose format it has. */
  readonly surface: Surface;
  /** Whether its status says that it is an error. */
  readonly isError: boolean;
  /** The credential that the provider was sent, and that is redacted; undefined where there was none. */
  readonly secret: string | undefined;
}

/** All that the gateway keeps of an answer, beside its bytes. */
export interface AnswerFacts extends Omit<AnswerContent, 'generated'> {
  /** Whether it is an answer of the surface. If not, only usage and an error are known. */
  readonly isAnswer: boolean;
  readonly generatedTokens: number;
}

const NOTHING = { usage: undefined, hasContent: false, hasReasoning: false, generatedTokens: 0 };

/** The facts of an answer, and its bytes without the credential. */
export async function readAnswer(
  bytes: Buffer<ArrayBuffer>,
  { surface, isError, secret }: AnswerForm,
): Promise<{ readonly result: AnswerFacts; readonly body: Buffer<ArrayBuffer> }> {
  const format = formatOf(surface);
  const redaction = redactionOf(secret);
  const body = redaction?.bytes(bytes) ?? bytes;
  if (isError) {
    return { result: { ...NOTHING, isAnswer: false, upstreamError: errorOfAnswer(body, redaction) }, body };
  }
  const content = format.readAnswer(bytes);
  if (!content) {
    // What cannot be read as an answer may state its usage all the same.
    const usage = format.openUsage();
    usage.push(bytes);
    return { result: { ...NOTHING, isAnswer: false, usage: usage.usage, upstreamError: null }, body };
  }
  const { generated, upstreamError, ...others } = content;
  return {
    result: {
      ...others,
      isAnswer: true,
      generatedTokens: await generated.countTokens(countTokens),
      upstreamError: upstreamError === null ? null : errorToKeep(upstreamError, redaction),
    },
    body,
  };
}
