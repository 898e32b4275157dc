import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { EndpointReading } from '../format.ts';
import { checkRole, isBoolean, isCount, readOptional, toolTypesOf } from '../member-table.ts';
import type { ParsedBody } from '../parse-body.ts';
import { BodyError } from '../request-facts.ts';
import { CAP_NAMES, chatLayout } from './layout.ts';
import { CHAT_MEMBERS } from './members.ts';
import { chatPromptSize } from './prompt.ts';

const MAX_CHOICES = 128;

/** Reads the body of `POST /v1/chat/completions`. What the gateway has no stake in is left to the upstream. */
export function readChat(body: ParsedBody): EndpointReading {
  const { value } = body;
  CHAT_MEMBERS.checkNames(body.spans.keys());
  const messages = readMessages(value['messages']);
  const isStream = readOptional<boolean>(value, 'stream', 'true or false', isBoolean) ?? false;
  const streamOptions = readOptional<JsonObject>(value, 'stream_options', 'an object', isJsonObject);
  const choices =
    readOptional<number>(value, 'n', `an integer from 1 to ${MAX_CHOICES}`, (count) =>
      isCount(count, MAX_CHOICES),
    ) ?? 1;
  const caps = CAP_NAMES.flatMap(
    (name) => readOptional<number>(value, name, 'a positive integer', (count) => isCount(count)) ?? [],
  );
  const { overheadTokens, texts, uncountableParts } = chatPromptSize(messages, value);
  return {
    facts: {
      isStream,
      choices,
      outputCap: caps.length === 0 ? undefined : Math.min(...caps),
      showsUsage: streamOptions?.['include_usage'] === true,
      uncountableParts,
      toolTypes: toolTypesOf(value['tools']),
      layout: chatLayout(body, isStream),
    },
    overheadTokens,
    texts,
  };
}

function readMessages(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isJsonObject)) {
    throw new BodyError('messages must be a list of at least one message object.', 'messages');
  }
  value.forEach(({ role }, index) => {
    checkRole(role, `messages[${index}]`);
  });
  return value;
}
