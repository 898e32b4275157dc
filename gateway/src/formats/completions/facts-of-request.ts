import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { layoutOf } from '../body-layout.ts';
import { usageEdits } from '../chat/layout.ts';
import type { EndpointReading } from '../format.ts';
import { isBoolean, isCount, readOptional } from '../member-table.ts';
import type { ParsedBody } from '../parse-body.ts';
import { PromptParts } from '../prompt-parts.ts';
import { addTokenInput } from '../token-input.ts';
import { COMPLETIONS_MEMBERS } from './members.ts';

const MAX_CHOICES = 128;

/**
 * The cap of OpenAI for a completion that names none. The route's default is not sent in its place: a caller that expects a few words would
 * get, and pay for, thousands.
 */
const DEFAULT_CAP = 16;

/** Reads the body of `POST /v1/completions`. What the gateway has no stake in is left to the upstream. */
export function readCompletions(body: ParsedBody): EndpointReading {
  const { value } = body;
  COMPLETIONS_MEMBERS.checkNames(body.spans.keys());
  const parts = new PromptParts();
  const prompts = addTokenInput(parts, 'prompt', value['prompt'] ?? START_OF_A_DOCUMENT);
  readOptional<string>(value, 'suffix', 'text', (text) => typeof text === 'string');
  COMPLETIONS_MEMBERS.addTo(parts, value);
  const { overheadTokens, texts } = parts.size;
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
      choices: prompts * generated,
      outputCap: outputCap ?? DEFAULT_CAP,
      showsUsage: streamOptions?.['include_usage'] === true,
      uncountableParts: [],
      toolTypes: [],
      layout: layoutOf(body, isStream ? usageEdits(body) : []),
    },
    overheadTokens,
    texts,
  };
}

/** The text that stands for a prompt that is left out. */
const START_OF_A_DOCUMENT = '<|endoftext|>';

function readChoices(body: JsonObject, name: string): number {
  const expected = `an integer from 1 to ${MAX_CHOICES}`;
  return readOptional<number>(body, name, expected, (count) => isCount(count, MAX_CHOICES)) ?? 1;
}
