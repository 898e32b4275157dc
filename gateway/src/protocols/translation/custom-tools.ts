import { isJsonObject } from '../json.ts';
import { parseBounded } from './bounded-json.ts';
import type { CustomTool, FunctionTool, ToolCallPart } from './conversation.ts';

// A custom tool takes plain text. Where the provider has none, it is declared as a function whose only argument is that
// text, and its calls are turned back.

const ARGUMENT = 'input';

export function functionOfCustom({ name, description }: CustomTool): FunctionTool {
  return {
    kind: 'function',
    name,
    ...(description !== undefined && { description }),
    parameters: {
      type: 'object',
      properties: {
        [ARGUMENT]: { type: 'string', description: 'The whole input of the tool, as plain text.' },
      },
      required: [ARGUMENT],
      additionalProperties: false,
    },
  };
}

/** The arguments of a function that stand for a call of a custom tool. */
export function argumentsOfInput(input: string): string {
  return JSON.stringify({ [ARGUMENT]: input });
}

/** The text that a custom tool was called with; the arguments as they are where the model kept to no schema. */
export function inputOfArguments(written: string): string {
  const value = parseBounded(written);
  const input = isJsonObject(value) ? value[ARGUMENT] : undefined;
  return typeof input === 'string' ? input : written;
}

/** The arguments of a call as JSON, whatever its kind. */
export function jsonArguments({ kind, arguments: written }: ToolCallPart): string {
  return kind === 'custom' ? argumentsOfInput(written) : written;
}
