import { isUtf8 } from 'node:buffer';

/** The text cut to at most `maxBytes` of UTF-8, never through a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // Back over the middle of a character: those bytes are 10xxxxxx.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** The text cut to at most `maxCharacters` UTF-16 units, well-formed and without U+0000. */
export function cutToStorable(text: string, maxCharacters: number): string {
  return text.slice(0, maxCharacters).toWellFormed().replaceAll('\u0000', '\ufffd');
}

// In any case of letters: a header's name arrives in lower case.
const GATEWAY_KEY = /(sk_svc_[0-9A-Za-z]{8})[0-9A-Za-z]+/gi;

/**
 * The text with every gateway key in it cut to its prefix. Callers put keys in all sorts of wrong places, so what
 * is logged, recorded or repeated goes through here; guarded by secrets.http.test.ts.
 */
export function maskKeys(text: string): string {
  // Most texts have no underscore, and a search for one is faster than the pattern.
  return text.includes('_') ? text.replaceAll(GATEWAY_KEY, '$1…') : text;
}

/** A header's value as its sender meant it. Node reads the bytes as Latin-1; most that are not ASCII are UTF-8. */
export function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}
