import { isTooComplex, parseJson } from '../../wire/answer-json.ts';
import { isJsonObject } from '../../wire/json.ts';
import { GeneratedText } from '../answer-tally.ts';
import { bodyEdits } from '../body-layout.ts';
import type { AnswerContent, Format } from '../format.ts';
import { isTokenCount } from '../usage-figures.ts';
import { readPrompt } from './facts-of-request.ts';
import { messages } from './index.ts';

const { translator: _, ...untranslated } = messages;

/** Anthropic's counting of a prompt. Nothing is generated, and nothing is billed. */
export const countTokens: Format = {
  ...untranslated,
  surface: 'count_tokens',
  readRequest: readPrompt,
  upstreamEdits: bodyEdits,
  readAnswer: readCount,
  openUsage: () => ({ push() {}, usage: undefined }),
};

/** An answer that states a count. */
function readCount(body: Buffer): AnswerContent | undefined {
  const answer = isTooComplex(body) ? undefined : parseJson(body.toString());
  if (!isJsonObject(answer) || !isTokenCount(answer['input_tokens'])) return undefined;
  return {
    usage: undefined,
    hasContent: false,
    hasReasoning: false,
    generated: new GeneratedText(),
    upstreamError: null,
  };
}
