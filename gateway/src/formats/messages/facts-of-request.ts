import { isJsonObject } from '../../wire/json.ts';
import { layoutOf } from '../body-layout.ts';
import type { EndpointReading } from '../format.ts';
import { readCount, readFlag, readMessageList, toolTypesOf } from '../member-table.ts';
import type { ParsedBody } from '../parse-body.ts';
import { isTokenCount } from '../usage-figures.ts';
import { MESSAGES_MEMBERS } from './members.ts';
import { messagesPromptSize } from './prompt.ts';

/** Reads the body of `POST /v1/messages`. What the gateway has no stake in is left to the upstream. */
export function readMessages(body: ParsedBody): EndpointReading {
  const reading = readPrompt(body);
  const { value } = body;
  const isStream = readFlag(value, 'stream');
  // None at all fills the cache and generates nothing. A request without a cap gets the route's.
  const outputCap = readCount(value, 'max_tokens', { least: 0 });
  const budget = thinkingBudgetOf(value['thinking']);
  const facts = { ...reading.facts, isStream, choices: 1, outputCap };
  return { ...reading, facts: { ...facts, ...(budget !== undefined && { leastOutputCap: budget + 1 }) } };
}

/** Reads the body of `POST /v1/messages/count_tokens`: the same prompt, of which nothing is generated. */
export function readPrompt(body: ParsedBody): EndpointReading {
  const { value } = body;
  MESSAGES_MEMBERS.checkNames(body.spans.keys());
  const { overheadTokens, texts, uncountableParts } = messagesPromptSize(readMessageList(value), value);
  return {
    facts: {
      isStream: false,
      choices: 0,
      outputCap: undefined,
      showsUsage: true,
      uncountableParts,
      // A tool without a type is the caller's own.
      toolTypes: [...new Set(toolTypesOf(value['tools']).map((type) => type || 'custom'))],
      layout: layoutOf(body),
    },
    overheadTokens,
    texts,
  };
}

/** The tokens set aside for thinking. Anthropic takes no output cap that leaves nothing beside them. */
function thinkingBudgetOf(thinking: unknown): number | undefined {
  const budget = isJsonObject(thinking) ? thinking['budget_tokens'] : undefined;
  return isTokenCount(budget) && budget < Number.MAX_SAFE_INTEGER ? budget : undefined;
}
