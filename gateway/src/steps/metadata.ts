import { cutToBytes, headerText, maskKeys } from '../text.ts';

const PREFIX = 'x-svc-meta-';
const MOST_ENTRIES = 32;
const LONGEST_NAME = 64;
const LARGEST_VALUE_BYTES = 1024;

/**
 * The caller's own labels, from headers named X-SVC-Meta-NAME, as raw headers list them (name, value, name, ...).
 * Names are lower case, and a gateway key is masked wherever it stands. Beyond the limits entries are dropped and values cut: a label must never cost an answer.
 */
export function readMetadata(rawHeaders: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string[]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const header = rawHeaders[at]?.toLowerCase() ?? '';
    if (!header.startsWith(PREFIX)) continue;
    const name = maskKeys(header.slice(PREFIX.length));
    if (name === '' || name.length > LONGEST_NAME) continue;
    const value = rawHeaders[at + 1] ?? '';
    const earlier = values.get(name);
    if (earlier) earlier.push(value);
    else if (values.size < MOST_ENTRIES) values.set(name, [value]);
  }
  return new Map(
    Array.from(values, ([name, all]) => [
      name,
      cutToBytes(maskKeys(all.map(headerText).join(', ')), LARGEST_VALUE_BYTES),
    ]),
  );
}
