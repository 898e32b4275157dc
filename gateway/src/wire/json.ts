export interface JsonObject {
  readonly [name: string]: unknown;
}

export function isJsonObject(value: unknown): value is JsonObject {
  // Raw JSON is a number that is kept as it was sent (exact-json.ts).
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

// Of Node 24, but not yet of the compiler's libraries.
declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

interface RawJson {
  readonly rawJSON: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * The text of a JSON object without its member `name`, every other byte as it was. Parsing and writing again
 * would reorder and reformat what an upstream sent. The text must be a valid JSON object.
 */
export function withoutMember(json: string, name: string): string {
  const short = withoutLastNull(json, name);
  if (short !== undefined) return short;
  const open = json.indexOf('{');
  const kept: string[] = [];
  let at = open + 1;
  while (true) {
    const { keyStart, keyEnd, end } = memberAt(json, at);
    // An empty object has no key.
    if (keyEnd > keyStart && JSON.parse(json.slice(keyStart, keyEnd)) !== name)
      kept.push(json.slice(at, end));
    at = end;
    if (json.charCodeAt(at) !== COMMA) break;
    at += 1;
  }
  return json.slice(0, open + 1) + kept.join(',') + json.slice(at);
}

/** The same where the member is null, the last one, and surely the only one of its name, as in most chunks of a stream. */
function withoutLastNull(json: string, name: string): string | undefined {
  const start = json.indexOf(`"${name}"`) - 1;
  // The comma is outside a string: a quote that ends one is followed by no name. Escaped, the name may be spelled otherwise.
  const isLast = start > 0 && json.endsWith(`,"${name}":null}`) && start === json.length - name.length - 9;
  return isLast && !json.includes('\\u') ? `${json.slice(0, start)}}` : undefined;
}

/** The member that starts at `start`: its key with the quotes, and the comma or brace that ends it. */
function memberAt(json: string, start: number): { keyStart: number; keyEnd: number; end: number } {
  let keyStart = start;
  let keyEnd = start;
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const close = stringEnd(json, at);
      if (keyEnd === start) [keyStart, keyEnd] = [at, close];
      at = close - 1;
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
    } else if (depth > 0 && (code === 0x5d || code === 0x7d)) {
      depth -= 1;
    } else if (depth === 0 && (code === COMMA || code === 0x7d)) {
      return { keyStart, keyEnd, end: at };
    }
  }
  return { keyStart, keyEnd, end: json.length };
}

/** Just past the quote that closes the string which opens at `open`. */
function stringEnd(json: string, open: number): number {
  for (let at = open + 1; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at + 1;
  }
  return json.length;
}
