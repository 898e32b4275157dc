import { isTooComplex, parseJson } from '../answer-json.ts';
import { readErrorMessage } from '../error-message.ts';
import type { AnswerContent } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { statesOutput } from '../usage-figures.ts';
import { type PiecesOfChoice, piecesOfMessage } from './chat-message.ts';
import { hasReasoningTokens, readUsage } from './usage.ts';

/** Reads a chat completion, or a text completion, that came whole. */
export function readChatAnswer(
  body: Buffer,
  piecesOf: PiecesOfChoice = piecesOfMessage,
): AnswerContent | undefined {
  const answer = isTooComplex(body) ? undefined : parseJson(body.toString());
  if (!isJsonObject(answer)) return undefined;
  const usage = readUsage(answer['usage']);
  const generated = new GeneratedText();
  const choices: readonly unknown[] = Array.isArray(answer['choices']) ? answer['choices'] : [];
  let hasContent = false;
  let hasReasoning = hasReasoningTokens(answer['usage']);
  choices.forEach((choice, position) => {
    if (!isJsonObject(choice)) return;
    for (const { voice, text, isCounted, isReasoning } of piecesOf(choice, position)) {
      hasContent = true;
      hasReasoning ||= isReasoning;
      if (isCounted && !statesOutput(usage)) generated.append(voice, text);
    }
  });
  return {
    usage,
    hasContent,
    hasReasoning,
    generated,
    upstreamError: errorWithin(answer, choices),
  };
}

/** The error inside the answer, if there is one: some providers put it into the choice. */
function errorWithin(answer: JsonObject, choices: readonly unknown[]): string | null {
  if ('error' in answer) return readErrorMessage(answer) ?? null;
  const failed = choices.find((choice) => isJsonObject(choice) && isFailedChoice(choice));
  return failed === undefined ? null : (readErrorMessage(failed) ?? 'the answer ended with an error');
}

/** True if the provider ended the choice with an error, as routers do inside a 200. */
export function isFailedChoice(choice: JsonObject): boolean {
  return choice['finish_reason'] === 'error' || isJsonObject(choice['error']);
}
