// Parsed JSON takes far more memory than its bytes: 16 MB can hold five million empty objects. Small answers and the
// events of streams are parsed on the main thread, so the number of values is limited. A long answer has about ten thousand
// values, one with the log probabilities of all its tokens about a hundred thousand.
export const MAX_VALUES = 1_000_000;
export const DEEPEST = 128;
// So small a text, such as most events of a stream, has a thousand levels at most.
export const SHALLOW_BYTES = 2 * 1024;
// No text of this size can hold more values than do no harm. It can be deep: what writes a value again, or goes through it, may call
// itself for each level, and a stack ends at some thousands.
const HARMLESS_BYTES = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/** True if the JSON text would become too large a structure, or too deep a one. Looked at before parsing. */
export function isTooComplex(json: Buffer): boolean {
  if (json.length <= SHALLOW_BYTES) return false;
  if (json.length <= HARMLESS_BYTES && opensAtMost(json, DEEPEST)) return false;
  let values = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) {
      // Most of an answer is text, and a search goes through it many times faster than this loop.
      at = stringEnd(json, at + 1);
    } else if (byte === COMMA) {
      values += 1;
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      values += 1;
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth -= 1;
    }
  }
  return values > MAX_VALUES;
}

/** True if the text has at most so many brackets and braces that open, those in strings included. */
function opensAtMost(json: Buffer, most: number): boolean {
  let left = most;
  // Searches are many times faster than a look at each byte.
  for (const open of [OPEN_ARRAY, OPEN_OBJECT]) {
    for (let at = json.indexOf(open); at !== -1; at = json.indexOf(open, at + 1)) {
      left -= 1;
      if (left < 0) return false;
    }
  }
  return true;
}

/** The index of the quote that ends the string whose text begins at `start`; the text's end where there is none. */
function stringEnd(json: Buffer, start: number): number {
  for (let at = start; ; at += 1) {
    at = json.indexOf(QUOTE, at);
    if (at === -1) return json.length;
    let backslashes = 0;
    while (at - backslashes > start && json[at - backslashes - 1] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
}

/** The value that the JSON text stands for; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
