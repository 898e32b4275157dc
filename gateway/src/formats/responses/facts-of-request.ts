import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { EndpointReading } from '../format.ts';
import { checkRole, isBoolean, isCount, readOptional } from '../member-table.ts';
import type { ParsedBody } from '../parse-body.ts';
import { BodyError } from '../request-facts.ts';
import { responsesLayout } from './layout.ts';
import { RESPONSES_MEMBERS } from './members.ts';
import { ownReferences } from './own-items.ts';
import { isKeptByTheProvider, responsesPromptSize } from './prompt.ts';
import { dispensableTools, responsesToolTypes } from './tools.ts';

/** Reads the body of `POST /v1/responses`. What the gateway has no stake in is left to the upstream. */
export function readResponses(body: ParsedBody): EndpointReading {
  const { value } = body;
  RESPONSES_MEMBERS.checkNames(body.spans.keys());
  const input = readInput(value);
  readOptional<string>(value, 'instructions', 'text', (text) => typeof text === 'string');
  const isStream = readOptional<boolean>(value, 'stream', 'true or false', isBoolean) ?? false;
  if (readOptional<boolean>(value, 'background', 'true or false', isBoolean)) {
    // Its answer is fetched later, past the gateway, and so is its usage.
    throw new BodyError(
      'background is not available here: what a response uses could not be seen. Leave it out, or ask for a stream.',
      'background',
    );
  }
  const outputCap = readOptional<number>(value, 'max_output_tokens', 'a positive integer', (count) =>
    isCount(count),
  );
  const references = ownReferences(body);
  const { overheadTokens, texts, uncountableParts } = responsesPromptSize(input, value);
  return {
    facts: {
      isStream,
      choices: 1,
      outputCap,
      showsUsage: true,
      uncountableParts,
      toolTypes: responsesToolTypes(value),
      dispensableTools: dispensableTools(value),
      ...(references.length > 0 && { ownReferences: references }),
      layout: responsesLayout(body),
    },
    overheadTokens,
    texts,
  };
}

function readInput(body: JsonObject): string | readonly JsonObject[] {
  const { input } = body;
  if (typeof input === 'string') return input;
  const isOptional = isKeptByTheProvider(body);
  if (isOptional && (input === undefined || input === null)) return [];
  if (!Array.isArray(input) || !input.every(isJsonObject) || (input.length === 0 && !isOptional)) {
    throw new BodyError('input must be text or a list of at least one item.', 'input');
  }
  input.forEach(({ role }, index) => {
    checkRole(role, `input[${index}]`);
  });
  return input;
}
