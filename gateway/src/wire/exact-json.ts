import { randomBytes } from 'node:crypto';
import { parseJson } from './answer-json.ts';
import type { JsonObject } from './json.ts';

// Numbers that JSON.parse and JSON.stringify would write differently: 9007199254740993 as 9007199254740992, 1e400 as null,
// 1.0 as 1. Where a body is translated they must arrive as they were sent, such as the 64-bit ids in a tool's arguments. So
// they are kept as raw JSON, which JSON.stringify writes as it is. `isJsonObject` does not take it for an object; code that
// reads a number for itself reads it with `numberOf`. structuredClone refuses raw JSON, so none goes to another thread.
// Little of an answer can show a caller a number, so answers and events are parsed by JSON.parse, and once more by
// `parseExact` only where they have such a member.
//
// The reviver of JSON.parse is given the text of numbers too, but with one a parse takes up to sixty times as long. So they
// are written as marked strings, parsed, and put in the strings' places.

/**
 * Numbers of one text that are kept; the rest is read as JSON.parse does. These cost 4 ms on the main thread, and a model
 * that wrote as many 64-bit ids would write for half an hour.
 */
export const MAX_EXACT_NUMBERS = 10_000;

/** A mark that no caller can know, and so no string begins with. */
const MARK = `${randomBytes(9).toString('base64')} `;
const ALWAYS_EXACT_DIGITS = 15;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;

/** Reads an object that was parsed once more, with its numbers as they were sent. */
export type ReadExact = () => JsonObject;

/** The value of a JSON text, whose numbers are written again as they are here. Undefined when it is not JSON. */
export function parseExact(text: string): unknown {
  // Parsed first, so that what follows goes by a valid text.
  const value = parseJson(text);
  if (value === undefined) return undefined;
  const marked = withMarkedNumbers(text);
  return marked === undefined ? value : withRawNumbers(JSON.parse(marked));
}

/** The number where it is one that was kept as it was sent; anything else as it is. */
export function numberOf(value: unknown): unknown {
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : value;
}

/** The valid JSON text with marked strings in place of the numbers that must be kept; undefined where there are none. */
function withMarkedNumbers(text: string): string | undefined {
  // Concatenated: an array of parts to join takes three times as long.
  let marked = '';
  let copied = 0;
  let kept = 0;
  for (let at = 0; at < text.length && kept < MAX_EXACT_NUMBERS; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at + 1);
    } else if (isDigit(code) || code === MINUS) {
      const start = at;
      let isPlain = code !== MINUS;
      for (; at < text.length && isNumberPart(text.charCodeAt(at)); at += 1) {
        isPlain &&= isDigit(text.charCodeAt(at));
      }
      const end = at;
      // The loop goes on with what follows the number.
      at -= 1;
      if (isPlain && end - start <= ALWAYS_EXACT_DIGITS) continue;
      const number = text.slice(start, end);
      if (String(Number(number)) === number) continue;
      marked += `${text.slice(copied, start)}"${MARK}${number}"`;
      copied = end;
      kept += 1;
    }
  }
  return kept === 0 ? undefined : marked + text.slice(copied);
}

/** The index of the quote that ends the string whose text begins at `start`. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start); ; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - backslashes - 1) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** A digit, or one of `. e E + -`. */
function isNumberPart(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d;
}

/** The parsed value with raw JSON in place of the marked strings. Without calling itself: a text may be nested deep. */
function withRawNumbers(parsed: unknown): unknown {
  const root: unknown[] = [parsed];
  const open: (unknown[] | Record<string, unknown>)[] = [root];
  const rawOf = (member: unknown): unknown => {
    if (typeof member === 'string') {
      return member.startsWith(MARK) ? JSON.rawJSON(member.slice(MARK.length)) : member;
    }
    if (typeof member === 'object' && member !== null) open.push(member as Record<string, unknown>);
    return member;
  };
  for (let holder = open.pop(); holder; holder = open.pop()) {
    if (Array.isArray(holder)) {
      for (let index = 0; index < holder.length; index += 1) holder[index] = rawOf(holder[index]);
    } else {
      for (const name of Object.keys(holder)) holder[name] = rawOf(holder[name]);
    }
  }
  return root[0];
}
