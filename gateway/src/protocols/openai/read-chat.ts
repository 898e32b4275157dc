import { isJsonObject, type JsonObject } from '../json.ts';
import type { EndpointReading, ParsedBody } from '../read-request.ts';
import { BodyError, type CapName } from '../request-facts.ts';
import { layoutOf } from './chat-layout.ts';
import { promptSize } from './prompt-size.ts';

const MOST_CHOICES = 128;
const MOST_TOOL_TYPES = 32;
const LONGEST_TYPE = 64;

const CAP_NAMES: readonly CapName[] = ['max_completion_tokens', 'max_tokens'];

// What this gateway goes by. Some providers read names without regard to case: one that differs in case only would
// pass unseen here and count there.
const JUDGED = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'n', ...CAP_NAMES],
  ...['tools', 'functions', 'response_format', 'prediction'],
]);

/** Reads the body of `POST /v1/chat/completions`. What the gateway has no stake in is left to the upstream. */
export function readChat(body: ParsedBody): EndpointReading {
  const { value } = body;
  for (const name of body.spans.keys()) refuseOtherCase(name);
  const messages = readMessages(value['messages']);
  const isStream = readOptional<boolean>(value, 'stream', 'true or false', isBoolean) ?? false;
  const streamOptions = readOptional<JsonObject>(value, 'stream_options', 'an object', isJsonObject);
  const choices =
    readOptional<number>(value, 'n', `an integer from 1 to ${MOST_CHOICES}`, (count) =>
      isCount(count, MOST_CHOICES),
    ) ?? 1;
  const caps = CAP_NAMES.flatMap(
    (name) => readOptional<number>(value, name, 'a positive integer', (count) => isCount(count)) ?? [],
  );
  const { overheadTokens, texts, uncountableParts } = promptSize(messages, value);
  return {
    facts: {
      isStream,
      choices,
      outputCap: caps.length === 0 ? undefined : Math.min(...caps),
      showsUsage: streamOptions?.['include_usage'] === true,
      uncountableParts,
      toolTypes: toolTypes(value['tools']),
      layout: layoutOf(body, isStream),
    },
    overheadTokens,
    texts,
  };
}

function refuseOtherCase(name: string): void {
  // Both ways: two letters outside ASCII have an ASCII letter as their other case.
  const folded = name.length > LONGEST_TYPE ? name : name.toUpperCase().toLowerCase();
  if (folded !== name && JUDGED.has(folded)) {
    throw new BodyError(`${folded} must be written in lower case.`, folded);
  }
}

function readMessages(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isJsonObject)) {
    throw new BodyError('messages must be a list of at least one message object.', 'messages');
  }
  return value;
}

function toolTypes(tools: unknown): readonly string[] {
  const types = new Set<string>();
  for (const tool of Array.isArray(tools) ? tools : []) {
    const type = isJsonObject(tool) ? tool['type'] : undefined;
    types.add(typeof type === 'string' ? type.slice(0, LONGEST_TYPE) : '');
    // Nothing may hide behind the end of a list that is judged.
    if (types.size > MOST_TOOL_TYPES) {
      throw new BodyError(`tools must have at most ${MOST_TOOL_TYPES} types.`, 'tools');
    }
  }
  return [...types];
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
  if (!isRight(value)) throw new BodyError(`${name} must be ${expected}.`, name);
  return value as T;
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

function isCount(value: unknown, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most;
}
