import { layoutOf } from '../body-layout.ts';
import type { EndpointReading } from '../format.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { isBoolean, isCount, readOptional, refuseOtherCase } from '../members.ts';
import type { ParsedBody } from '../parse-body.ts';
import { usageEdits } from './chat-layout.ts';
import { readTokenInput } from './token-input.ts';

const MOST_CHOICES = 128;

/**
 * What OpenAI generates where a completion names no cap. The route's default is not sent in its place: a caller that
 * expects a few words would get, and pay for, thousands.
 */
const DEFAULT_CAP = 16;

// What this gateway goes by.
const JUDGED = new Set([
  ...['model', 'prompt', 'suffix', 'stream', 'stream_options', 'n', 'best_of', 'max_tokens'],
]);

/** Reads the body of `POST /v1/completions`. What the gateway has no stake in is left to the upstream. */
export function readCompletions(body: ParsedBody): EndpointReading {
  const { value } = body;
  refuseOtherCase(body.spans.keys(), JUDGED);
  const prompt = readTokenInput('prompt', value['prompt'] ?? START_OF_A_DOCUMENT);
  const suffix = readOptional<string>(value, 'suffix', 'text', (text) => typeof text === 'string');
  const isStream = readOptional<boolean>(value, 'stream', 'true or false', isBoolean) ?? false;
  const streamOptions = readOptional<JsonObject>(value, 'stream_options', 'an object', isJsonObject);
  const shown = readChoices(value, 'n');
  const generated = Math.max(shown, readChoices(value, 'best_of'));
  // None at all is for a caller that wants the likelihoods of its own prompt.
  const outputCap = readOptional<number>(
    value,
    'max_tokens',
    'an integer of at least 0',
    (count) => count === 0 || isCount(count),
  );
  return {
    facts: {
      isStream,
      choices: prompt.count * generated,
      outputCap: outputCap ?? DEFAULT_CAP,
      showsUsage: streamOptions?.['include_usage'] === true,
      uncountableParts: [],
      toolTypes: [],
      layout: layoutOf(body, isStream ? usageEdits(body) : []),
    },
    overheadTokens: prompt.overheadTokens,
    texts: suffix === undefined ? prompt.texts : [...prompt.texts, suffix],
  };
}

/** What stands for a prompt that is left out. */
const START_OF_A_DOCUMENT = '<|endoftext|>';

function readChoices(body: JsonObject, name: string): number {
  const expected = `an integer from 1 to ${MOST_CHOICES}`;
  return readOptional<number>(body, name, expected, (count) => isCount(count, MOST_CHOICES)) ?? 1;
}
