import { MAX_METADATA_NAME_LENGTH, MAX_METADATA_VALUE_BYTES } from '@gatehouse/contract';
import { cutToBytes, headerText, maskKeys } from '../wire/text.ts';

const PREFIX = 'x-svc-meta-';
export const MAX_ENTRIES = 32;

/** The headers of clients that are kept as metadata, by their names in lower case, and the names they are stored under. */
export type MetadataHeaders = ReadonlyMap<string, string>;

/**
 * The metadata of a request, from its raw headers (name, value, name, ...): the caller's own labels, which are headers
 * named X-SVC-Meta-NAME, and what its client sends by itself in one of `mapped`. A label wins over a mapped header of
 * the same name, and the first of two mapped headers over the second. Names are lower case, and a gateway key is masked
 * wherever it stands. Beyond the limits entries are dropped and values cut: a label must never cost an answer.
 */
export function readMetadata(
  rawHeaders: readonly string[],
  mapped: MetadataHeaders,
): ReadonlyMap<string, string> {
  const labels = new Map<string, string[]>();
  const found = new Map<string, string[]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const header = rawHeaders[at]?.toLowerCase() ?? '';
    const value = rawHeaders[at + 1] ?? '';
    if (mapped.has(header)) add(found, header, value, mapped.size);
    if (!header.startsWith(PREFIX)) continue;
    const name = maskKeys(header.slice(PREFIX.length));
    if (name !== '' && name.length <= MAX_METADATA_NAME_LENGTH) add(labels, name, value, MAX_ENTRIES);
  }
  for (const [header, name] of mapped) {
    const all = found.get(header)?.filter((value) => value !== '') ?? [];
    if (all.length > 0 && !labels.has(name) && labels.size < MAX_ENTRIES) labels.set(name, all);
  }
  if (labels.size === 0) return NONE;
  return new Map(
    Array.from(labels, ([name, all]) => [
      name,
      cutToBytes(maskKeys(all.map(headerText).join(', ')), MAX_METADATA_VALUE_BYTES),
    ]),
  );
}

const NONE: ReadonlyMap<string, string> = new Map();

/** The labels of a request that are stored, and the names of those that are not, or not whole. */
export interface StoredMetadata {
  readonly labels: ReadonlyMap<string, string>;
  readonly cut: readonly string[];
  /** The bytes of names and values. */
  readonly bytes: number;
}

/** As many labels as fit into so many bytes of names and values, in their order. The last value is cut. */
export function fitMetadata(labels: ReadonlyMap<string, string>, mostBytes: number): StoredMetadata {
  const fitting = new Map<string, string>();
  const cut: string[] = [];
  let bytes = 0;
  for (const [name, value] of labels) {
    const room = mostBytes - bytes - Buffer.byteLength(name);
    const kept = room > 0 ? cutToBytes(value, room) : '';
    if (kept !== value) cut.push(name);
    if (kept === '' && value !== '') continue;
    fitting.set(name, kept);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(kept);
  }
  return cut.length === 0 ? { labels, cut, bytes } : { labels: fitting, cut, bytes };
}

function add(values: Map<string, string[]>, name: string, value: string, most: number): void {
  const earlier = values.get(name);
  if (earlier) earlier.push(value);
  else if (values.size < most) values.set(name, [value]);
}
