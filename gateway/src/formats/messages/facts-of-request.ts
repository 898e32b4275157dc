import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { layoutOf } from '../body-layout.ts';
import { BodyError } from '../call.ts';
import type { EndpointReading } from '../format.ts';
import { checkRole, isBoolean, readOptional, toolTypesOf } from '../member-table.ts';
import type { ParsedBody } from '../parse-body.ts';
import { isTokenCount } from '../usage-figures.ts';
import { MESSAGES_MEMBERS } from './members.ts';
import { messagesPromptSize } from './prompt.ts';

/** Reads the body of `POST /v1/messages`. What the gateway has no stake in is left to the upstream. */
export function readMessages(body: ParsedBody): EndpointReading {
  const reading = readPrompt(body);
  const { value } = body;
  const isStream = readOptional<boolean>(value, 'stream', 'true or false', isBoolean) ?? false;
  // None at all fills the cache and generates nothing. A request without a cap gets the route's.
  const outputCap = readOptional<number>(value, 'max_tokens', 'an integer of at least 0', isCap);
  const budget = thinkingBudgetOf(value['thinking']);
  const facts = { ...reading.facts, isStream, choices: 1, outputCap };
  return { ...reading, facts: { ...facts, ...(budget !== undefined && { leastOutputCap: budget + 1 }) } };
}

/** Reads the body of `POST /v1/messages/count_tokens`: the same prompt, of which nothing is generated. */
export function readPrompt(body: ParsedBody): EndpointReading {
  const { value } = body;
  MESSAGES_MEMBERS.checkNames(body.spans.keys());
  const { overheadTokens, texts, uncountableParts } = messagesPromptSize(messagesOf(value), value);
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

function messagesOf({ messages }: JsonObject): readonly JsonObject[] {
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isJsonObject)) {
    throw new BodyError('messages must be a list of at least one message object.', 'messages');
  }
  messages.forEach(({ role }, index) => {
    checkRole(role, `messages[${index}]`);
  });
  return messages;
}

function isCap(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
