import { invalidRequest } from '../../refusal.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { Call } from '../protocol.ts';
import { readChatAnswer } from './chat-answer.ts';
import { ChatStream } from './chat-stream.ts';
import { promptSize } from './prompt-size.ts';

const MOST_CHOICES = 128;

// Upstreams know one or the other name for the output limit, so the caller's choice of name is kept; a caller
// that set none gets the current one.
const CAP_NAMES = ['max_completion_tokens', 'max_tokens'] as const;

/** Reads the body of `POST /v1/chat/completions`. What the gateway has no stake in is left to the upstream. */
export function readChatCall(body: JsonObject): Call {
  const messages = readMessages(body['messages']);
  const isStream = readOptional<boolean>(body, 'stream', 'true or false', isBoolean) ?? false;
  const streamOptions = readOptional<JsonObject>(body, 'stream_options', 'an object', isJsonObject) ?? {};
  const choices =
    readOptional<number>(body, 'n', `an integer from 1 to ${MOST_CHOICES}`, (value) =>
      isCount(value, MOST_CHOICES),
    ) ?? 1;
  const caps = CAP_NAMES.flatMap((name) => {
    const cap = readOptional<number>(body, name, 'a positive integer', (value) => isCount(value));
    return cap === undefined ? [] : [{ name, cap }];
  });
  const outputCap = caps.length === 0 ? undefined : Math.min(...caps.map(({ cap }) => cap));
  const size = promptSize(messages, body);

  return {
    isStream,
    choices,
    outputCap,
    promptOverheadTokens: size.overheadTokens,
    promptTexts: () => size.texts,
    upstreamBody(upstreamModel, cap) {
      const capNames = caps.length === 0 ? [CAP_NAMES[0]] : caps.map(({ name }) => name);
      return JSON.stringify({
        ...body,
        model: upstreamModel,
        ...Object.fromEntries(capNames.map((name) => [name, cap])),
        ...(isStream && { stream_options: { ...streamOptions, include_usage: true } }),
      });
    },
    readAnswer: readChatAnswer,
    openStream: () => new ChatStream({ showsUsage: streamOptions['include_usage'] === true, choices }),
  };
}

function readMessages(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isJsonObject)) {
    throw invalidRequest('messages must be a list of at least one message object.', 'messages');
  }
  return value;
}

/** A member that may be left out or null. */
function readOptional<T>(
  body: JsonObject,
  name: string,
  expected: string,
  isRight: (value: unknown) => boolean,
): T | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (!isRight(value)) throw invalidRequest(`${name} must be ${expected}.`, name);
  return value as T;
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

function isCount(value: unknown, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most;
}
