import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import type { BodyObject } from './body-object.ts';
import { parseBounded, writeBounded } from './bounded-json.ts';

// Chat and responses hold a tool's arguments as the text that the model wrote, which may be no JSON at all; messages
// holds them as an object. So: no text, or null, is an empty object; an object is itself; anything else becomes the one member
// `invalid_arguments` with the text as it came, so that the tool's schema refuses it and the model reads why.

const INVALID_ARGUMENTS = 'invalid_arguments';
/** The text of an object without members. */
const EMPTY = /^\{\s*\}$/;

/** True for the arguments of a call without any, as models and servers write them. */
function isBlank(text: string): boolean {
  const written = text.trim();
  return written === '' || written === 'null';
}

/** True if a first piece of arguments says nothing: some servers send an empty object before the one with the arguments. */
export function isEmptyPiece(text: string): boolean {
  return isBlank(text) || EMPTY.test(text.trim());
}

/** The object that the arguments of a call are in messages. */
export function inputOfText(text: string): JsonObject {
  if (isBlank(text)) return {};
  const value = parseBounded(text);
  return isJsonObject(value) ? value : { [INVALID_ARGUMENTS]: text };
}

/**
 * The arguments of a call, or a piece of them, as a provider wrote them. Some give the object itself in place of its text; an empty one
 * says nothing yet.
 */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  const isEmpty =
    value === undefined || value === null || (isJsonObject(value) && Object.keys(value).length === 0);
  return isEmpty ? '' : (writeBounded(value) ?? '');
}

/** The arguments that a client wrote as the object itself, as a text; undefined for all others. */
export function objectArguments({ value }: BodyObject, name: string): string | undefined {
  return isJsonObject(value[name]) ? argumentsText(value[name]) : undefined;
}

/** The arguments of a function as clients and providers parse them: an object without members where the model wrote nothing. */
export function filledArguments(text: string): string {
  return isBlank(text) ? '{}' : text;
}

/**
 * The arguments of a call in a conversation as a provider takes them back: vLLM, llama.cpp and MiniMax parse them, and refuse every further
 * turn for a text that is no object.
 */
export function parsableArguments(text: string): string {
  return isJsonObject(parseBounded(text)) ? text : JSON.stringify(inputOfText(text));
}

/** The text that the input of a call in messages is in chat and responses. */
export function textOfInput(input: unknown): string {
  if (typeof input === 'string') return filledArguments(input);
  if (!isJsonObject(input)) return '{}';
  const invalid = input[INVALID_ARGUMENTS];
  if (Object.keys(input).length === 1 && typeof invalid === 'string') return invalid;
  return writeBounded(input) ?? '{}';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The arguments of one call on their way into `input_json_delta`: the text as it comes, up to the end of the object that
 * it is. Text that begins as no object becomes the string of the one member `invalid_arguments` (tool-input.ts).
 */
export class InputPieces {
  #form: 'unknown' | 'object' | 'invalid' = 'unknown';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** True if the object was closed: what follows is no part of it. */
  isComplete = false;

  /** True before anything but white space has come. */
  get isBlank(): boolean {
    return this.#form === 'unknown';
  }

  /** True within the object. */
  get isOpen(): boolean {
    return this.#form === 'object' && !this.isComplete;
  }

  /** The text to pass on for the next piece. */
  add(piece: string): string {
    if (this.#form === 'unknown') {
      const start = piece.search(/\S/);
      if (start === -1) return '';
      this.#form = piece[start] === '{' ? 'object' : 'invalid';
      if (this.#form === 'object') return this.#addObject(piece.slice(start));
      return `{${JSON.stringify(INVALID_ARGUMENTS)}:"${escaped(piece)}`;
    }
    return this.#form === 'object' ? this.#addObject(piece) : escaped(piece);
  }

  /** The next piece as it is, up to the end of the object. */
  addAsWritten(piece: string): string {
    const added = this.isComplete ? '' : this.add(piece);
    return this.isComplete ? added : piece;
  }

  /** The text to pass on when there are no more. */
  end(): string {
    return this.#form === 'invalid' ? '"}' : '';
  }

  #addObject(piece: string): string {
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (code === BACKSLASH) this.#isEscaped = true;
        else if (code === QUOTE) this.#isInString = false;
      } else if (code === QUOTE) {
        this.#isInString = true;
      } else if (code === 0x7b || code === 0x5b) {
        this.#depth += 1;
      } else if (code === 0x7d || code === 0x5d) {
        this.#depth -= 1;
        if (this.#depth === 0) {
          this.isComplete = true;
          return piece.slice(0, at + 1);
        }
      }
    }
    return piece;
  }
}

/** A piece of text within a JSON string. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
