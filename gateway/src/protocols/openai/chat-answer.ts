import { isTooComplex, parseJson } from '../answer-json.ts';
import { readErrorMessage } from '../error-message.ts';
import type { AnswerContent } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { isJsonObject } from '../json.ts';
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
      if (isCounted && !usage) generated.append(voice, text);
    }
  });
  return {
    usage,
    hasContent,
    hasReasoning,
    generated,
    upstreamError: 'error' in answer ? (readErrorMessage(answer) ?? null) : null,
  };
}
