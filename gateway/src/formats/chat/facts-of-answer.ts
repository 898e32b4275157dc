import { isTooComplex, parseJson } from '../../wire/answer-json.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { AnswerContent } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { errorBeside, readErrorMessage } from '../peculiarities/error-message.ts';
import { finishOf } from '../peculiarities/finish-reasons.ts';
import { hasReasoningTokens, readUsage, statedUsage } from '../peculiarities/usage-names.ts';
import { statesOutput } from '../usage-figures.ts';
import { type PiecesOfChoice, piecesOfMessage } from './pieces.ts';

/** Reads a chat completion, or a text completion, that came whole. Without a choice it is none: SDKs read the first one. */
export function readChatAnswer(
  body: Buffer,
  piecesOf: PiecesOfChoice = piecesOfMessage,
): AnswerContent | undefined {
  const answer = isTooComplex(body) ? undefined : parseJson(body.toString());
  const choices = isJsonObject(answer) ? answer['choices'] : undefined;
  if (!isJsonObject(answer) || !Array.isArray(choices) || !choices.some(isJsonObject)) return undefined;
  const stated = statedUsage(answer);
  const usage = readUsage(stated);
  const generated = new GeneratedText();
  let hasContent = false;
  let hasReasoning = hasReasoningTokens(stated);
  choices.forEach((choice: unknown, position) => {
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
    upstreamError: errorBeside(answer) ?? failedChoiceError(choices) ?? null,
  };
}

/** The error of a choice that the provider ended with one, as routers do inside a 200; undefined where all choices ended well. */
export function failedChoiceError(choices: unknown): string | undefined {
  const failed = Array.isArray(choices) ? choices.filter(isJsonObject).find(isFailedChoice) : undefined;
  return failed && (readErrorMessage(failed['error']) ?? 'the provider ended the answer with an error');
}

/** True if the provider ended the choice with an error. */
export function isFailedChoice(choice: JsonObject): boolean {
  return finishOf(choice['finish_reason']) === 'failed' || isJsonObject(choice['error']);
}
