/** The place of a value in the bytes; the end is exclusive. */
export interface ValueSpan {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** The places of the elements of a JSON list, whose text runs from `from` to `to`. The text must be valid JSON. */
export function listSpans(json: Uint8Array, from: number, to: number): ValueSpan[] {
  const spans: ValueSpan[] = [];
  let depth = 0;
  let start = -1;
  // Just past the last byte of the element that was not white space.
  let end = -1;
  const close = () => {
    if (start !== -1) spans.push({ start, end });
    start = -1;
  };
  for (let at = from; at < to; at += 1) {
    const byte = json[at] as number;
    // Space, tab, line feed, carriage return.
    if (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d) continue;
    if (byte === 0x5d || byte === 0x7d) depth -= 1;
    if (depth === 0 && at > from) {
      close();
      break;
    }
    if (depth === 1 && byte === COMMA) {
      close();
      continue;
    }
    if (depth >= 1 && start === -1) start = at;
    if (byte === 0x5b || byte === 0x7b) depth += 1;
    if (byte === QUOTE) {
      for (at += 1; at < to && json[at] !== QUOTE; at += 1) if (json[at] === BACKSLASH) at += 1;
    }
    end = at + 1;
  }
  return spans;
}
