import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { parseBounded } from './bounded-json.ts';
import type { AssistantPart, CustomTool, FunctionTool, ToolCallPart, ToolKind } from './conversation.ts';
import type { Losses } from './losses.ts';
import type { StreamEvent } from './stream-events.ts';
import { filledArguments, InputPieces, isEmptyPiece } from './tool-input.ts';
import type { TranslationNotes } from './translator.ts';

// Tools that were sent to the provider under another name or as another kind become the caller's again.

/** The caller's text of a call from the one that the provider wrote. */
type ReadArguments = (written: string) => string;

/** The tool that the caller declared under the name that the provider calls. `read` is there where the arguments have to be read. */
function callersTool(
  sent: string,
  { toolNames, customTools, argumentNames = {} }: TranslationNotes,
): { readonly name: string; readonly isCustom: boolean; readonly read: ReadArguments | undefined } {
  const isCustom = customTools.includes(sent);
  const names = Object.hasOwn(argumentNames, sent) ? argumentNames[sent] : undefined;
  return {
    name: Object.hasOwn(toolNames, sent) ? (toolNames[sent] as string) : sent,
    isCustom,
    read: isCustom ? inputOfArguments : names && ((written) => withCallersNames(written, names)),
  };
}

/** The parts of an answer with the caller's tools. */
export function withCallersTools(parts: readonly AssistantPart[], notes: TranslationNotes): AssistantPart[] {
  return parts.map((part) => {
    if (part.type !== 'toolCall') return part;
    const { name, isCustom, read = filledArguments } = callersTool(part.name, notes);
    if (part.kind === 'custom') return { ...part, name };
    return { ...part, name, kind: isCustom ? 'custom' : 'function', arguments: read(part.arguments) };
  });
}

// The input of a custom tool is a file at most.
const MAX_HELD_CHARACTERS = 4 * 1024 * 1024;

/** The same for the events of a stream. Arguments that have to be read are held until they are complete: they are JSON. */
export class CallersToolStream {
  readonly #notes: TranslationNotes;
  readonly #held = new Map<number, { readonly pieces: string[]; readonly read: ReadArguments }>();
  /** The arguments of the functions' calls that go on as they come. */
  readonly #passed = new Map<number, InputPieces>();
  #heldCharacters = 0;

  constructor(notes: TranslationNotes) {
    this.#notes = notes;
  }

  get keptBytes(): number {
    return 2 * this.#heldCharacters;
  }

  pass(event: StreamEvent): StreamEvent[] {
    switch (event.type) {
      case 'toolCall': {
        const { name, isCustom, read } = callersTool(event.name, this.#notes);
        const kind: ToolKind = isCustom ? 'custom' : event.kind;
        if (event.kind === 'function') {
          if (read) this.#held.set(event.index, { pieces: [], read });
          else this.#passed.set(event.index, new InputPieces());
        }
        return [{ ...event, name, kind }];
      }
      case 'toolArguments': {
        const passed = this.#passed.get(event.index);
        if (passed) {
          const text = passed.isBlank && isEmptyPiece(event.text) ? '' : passed.addAsWritten(event.text);
          return text === '' ? [] : [{ ...event, text }];
        }
        const held = this.#held.get(event.index);
        if (!held) return [event];
        held.pieces.push(event.text);
        this.#heldCharacters += event.text.length;
        if (this.#heldCharacters <= MAX_HELD_CHARACTERS) return [];
        const message = 'The provider sent more arguments of a tool than are read.';
        return [{ type: 'error', error: { message } }];
      }
      case 'toolCallEnd':
        return [...this.#release(event.index), event];
      case 'finish':
        return [
          ...[...this.#held.keys(), ...this.#passed.keys()].flatMap((index) => this.#release(index)),
          event,
        ];
      default:
        return [event];
    }
  }

  #release(index: number): StreamEvent[] {
    const held = this.#held.get(index);
    this.#held.delete(index);
    const isBlank = this.#passed.get(index)?.isBlank === true;
    this.#passed.delete(index);
    if (isBlank) return [{ type: 'toolArguments', index, text: filledArguments('') }];
    if (!held) return [];
    const written = held.pieces.join('');
    this.#heldCharacters -= written.length;
    const text = held.read(written);
    return text === '' ? [] : [{ type: 'toolArguments', index, text }];
  }
}

// A custom tool takes plain text. Where the provider has none, it is declared as a function whose only argument is that
// text, and its calls are turned back.

const ARGUMENT = 'input';

/** The tool as a function, for a format without custom tools. */
export function asFunction(tool: FunctionTool | CustomTool, losses: Losses): FunctionTool {
  if (tool.kind === 'function') return tool;
  const { name, description, format } = tool;
  if (format) losses.lose('customGrammar', `tools[${name}].format`);
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

/** The format of a custom tool as chat has it, the grammar in an object of its own, where responses has it beside the type. Any text needs none. */
export function customFormat(format: JsonObject | undefined): JsonObject | undefined {
  const { type, ...grammar } = format ?? { type: 'text' };
  if (type === 'text') return undefined;
  return type === 'grammar' && grammar['grammar'] === undefined ? { type, grammar } : format;
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

/** The text that a custom tool was called with, whatever its name; the arguments as they are where the model kept to no schema. */
function inputOfArguments(written: string): string {
  const value = parseBounded(written);
  if (!isJsonObject(value)) return typeof value === 'string' ? value : written;
  const [only, ...others] = Object.values(value);
  const input = value[ARGUMENT] ?? (others.length === 0 ? only : undefined);
  return typeof input === 'string' ? input : written;
}

/** The arguments of a function under the caller's names. */
function withCallersNames(written: string, names: Readonly<Record<string, string>>): string {
  const value = parseBounded(written);
  if (!isJsonObject(value)) return filledArguments(written);
  const renamed = Object.entries(value).map(([name, one]) => [
    Object.hasOwn(names, name) ? names[name] : name,
    one,
  ]);
  return JSON.stringify(Object.fromEntries(renamed));
}

/** The arguments of a call as JSON, whatever its kind. */
export function jsonArguments({ kind, arguments: written }: ToolCallPart): string {
  return kind === 'custom' ? argumentsOfInput(written) : filledArguments(written);
}
