import { isTooComplex, parseJson } from '../../wire/answer-json.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { AnswerContent } from '../format.ts';
import { GeneratedText } from '../generated-text.ts';
import { errorInWords } from '../peculiarities/error-message.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import { statesOutput } from '../usage-figures.ts';
import { HostedCalls, piecesOfItem } from './pieces.ts';

// Those of providers have some sixty characters.
const MAX_ID_LENGTH = 256;

/** Reads a response that came whole. Without a list of items, empty or not, it is none. */
export function readResponsesAnswer(body: Buffer): AnswerContent | undefined {
  const answer = isTooComplex(body) ? undefined : parseJson(body.toString());
  return isJsonObject(answer) && Array.isArray(answer['output']) ? readResponse(answer) : undefined;
}

/** Reads a response that has ended, by itself or in the last event of a stream. */
export function readResponse(response: JsonObject): AnswerContent {
  const usage = readUsage(response['usage']);
  const generated = new GeneratedText();
  const calls = new HostedCalls();
  const items: readonly unknown[] = Array.isArray(response['output']) ? response['output'] : [];
  let hasContent = false;
  let hasReasoning = (usage?.reasoningTokens ?? 0) > 0;
  items.forEach((item, position) => {
    calls.add(item);
    hasReasoning ||= isJsonObject(item) && item['type'] === 'reasoning';
    for (const { text, isCounted } of piecesOfItem(item)) {
      hasContent = true;
      if (isCounted && !statesOutput(usage)) generated.append(String(position), text);
    }
  });
  const { counts } = calls;
  return {
    usage: usage && counts ? { ...usage, calls: counts } : usage,
    hasContent,
    hasReasoning,
    generated,
    upstreamError: errorOf(response),
    responseId: idOf(response),
  };
}

/** The id of a response; undefined where it has none. */
export function idOf({ id }: JsonObject): string | undefined {
  return typeof id === 'string' && id.length <= MAX_ID_LENGTH ? id : undefined;
}

/** The error of a response; null where nothing did: then its `error` is null, or it has none. */
function errorOf(response: JsonObject): string | null {
  const { status, error } = response;
  const isFailed = status === 'failed' || (error !== null && error !== undefined);
  return isFailed ? errorInWords(response) : null;
}
