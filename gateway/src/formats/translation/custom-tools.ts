import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { parseBounded } from './bounded-json.ts';
import type { CustomTool, FunctionTool, ToolCallPart } from './conversation.ts';
import { filledArguments } from './tool-input.ts';

// A custom tool takes plain text. Where the provider has none, it is declared as a function whose only argument is that
// text, and its calls are turned back.

const ARGUMENT = 'input';

export function functionOfCustom({ name, description, format }: CustomTool): FunctionTool {
  const described = [description, grammarIn(format)].filter((text) => text !== undefined);
  return {
    kind: 'function',
    name,
    ...(described.length > 0 && { description: described.join('\n\n') }),
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

/** A provider without custom tools holds no model to a grammar, but a model can read one. */
function grammarIn(format: JsonObject | undefined): string | undefined {
  const grammar = format?.['grammar'];
  if (!isJsonObject(grammar) || typeof grammar['definition'] !== 'string') return undefined;
  return `The text in \`${ARGUMENT}\` must match this ${grammar['syntax'] === 'regex' ? 'regular expression' : 'Lark grammar'}:\n${grammar['definition']}`;
}

/** The arguments of a function that stand for a call of a custom tool. */
function argumentsOfInput(input: string): string {
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
  return kind === 'custom' ? argumentsOfInput(written) : filledArguments(written);
}
