import { isTooComplex, parseJson } from '../../wire/answer-json.ts';
import { isJsonObject } from '../../wire/json.ts';
import type { AnswerContent } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { errorBeside } from '../peculiarities/error-message.ts';
import { statesOutput } from '../usage-figures.ts';
import { inputOf, piecesOf } from './pieces.ts';
import { readUsage } from './usage.ts';

/** Reads a message that came whole. Without a list of blocks, empty or not, it is none. */
export function readMessagesAnswer(body: Buffer): AnswerContent | undefined {
  const answer = isTooComplex(body) ? undefined : parseJson(body.toString());
  const blocks = isJsonObject(answer) ? answer['content'] : undefined;
  if (!isJsonObject(answer) || !Array.isArray(blocks)) return undefined;
  const usage = readUsage(answer['usage']);
  const generated = new GeneratedText();
  let hasContent = false;
  let hasReasoning = (usage?.reasoningTokens ?? 0) > 0;
  blocks.forEach((block: unknown, index) => {
    if (!isJsonObject(block)) return;
    const input = inputOf(block);
    if (input !== undefined) {
      hasContent = true;
      if (!statesOutput(usage)) generated.append(`${index} input`, input);
    }
    for (const { voice, text, isCounted, isReasoning } of piecesOf(block, index)) {
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
    upstreamError: errorBeside(answer) ?? null,
  };
}
