import { parseJson } from '../answer-json.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { scanJson } from '../scan-json.ts';

// Chat and responses hold a tool's arguments as the text that the model wrote, which may be no JSON at all; messages
// holds them as an object. So: no text is an empty object; an object is itself; anything else becomes the one member
// `invalid_arguments` with the text as it came, so that the tool's schema refuses it and the model reads why.

export const INVALID_ARGUMENTS = 'invalid_arguments';

const LIMITS = { depth: 128, structure: 400_000, members: 10_000 };

/** The object that the arguments of a call are in messages. */
export function inputOfText(text: string): JsonObject {
  if (text.trim() === '') return {};
  const isWithinLimits = typeof scanJson(Buffer.from(text), LIMITS) === 'object';
  const value = isWithinLimits ? parseJson(text) : undefined;
  return isJsonObject(value) ? value : { [INVALID_ARGUMENTS]: text };
}

/** The text that the input of a call in messages is in chat and responses. */
export function textOfInput(input: unknown): string {
  if (!isJsonObject(input) || isDeeperThan(input, LIMITS.depth * 2)) return '{}';
  const names = Object.keys(input);
  const invalid = input[INVALID_ARGUMENTS];
  return names.length === 1 && typeof invalid === 'string' ? invalid : JSON.stringify(input);
}

/** JSON.stringify calls itself for each level, and the stack has an end. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}
