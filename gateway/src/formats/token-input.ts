import { BodyError } from './call.ts';
import type { PromptParts } from './prompt-parts.ts';

// What completions and embeddings read: text, a list of texts, the ids of tokens, or a list of lists of ids.

/** OpenAI's own limit of inputs to an embedding. */
export const MAX_INPUTS = 2_048;

/**
 * Adds a member that may have each of the four forms, and says how many texts there are, each with an answer of its own.
 * Token ids count as what they are: exactly.
 */
export function addTokenInput(parts: PromptParts, name: string, value: unknown): number {
  const count = add(parts, value);
  if (count === undefined || count < 1 || count > MAX_INPUTS) {
    throw new BodyError(
      `${name} must be text, a list of 1 to ${MAX_INPUTS} texts, a list of token ids, or a list of 1 to ${MAX_INPUTS} such lists.`,
      name,
    );
  }
  return count;
}

/** How many texts were added; undefined when the value has none of the forms. */
function add(parts: PromptParts, value: unknown): number | undefined {
  if (typeof value === 'string') {
    parts.addText(value);
    return 1;
  }
  if (!Array.isArray(value)) return undefined;
  if (value.length === 0) return 0;
  if (value.every(isTokenId)) {
    parts.addTokens(value.length);
    return 1;
  }
  if (value.every((one) => typeof one === 'string')) {
    for (const text of value) parts.addText(text);
    return value.length;
  }
  if (!value.every((one) => Array.isArray(one) && one.length > 0 && one.every(isTokenId))) return undefined;
  for (const ids of value) parts.addTokens(ids.length);
  return value.length;
}

function isTokenId(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
