import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { attemptsFromJson, attemptsToJson, type RequestLogKind, requestLogColumns } from '@gatehouse/store';
import type { FinishedRequest } from './finished-request.ts';

/**
 * One record is one line: eight hexadecimal digits of CRC-32, a space, JSON, a line feed. JSON never holds a raw
 * line feed, so a line that a crash cut short, or a disk garbled, is recognised by its checksum, and the next line
 * feed is always a place to read on from.
 */

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const CHECKSUM_DIGITS = 8;
const HYPHEN = 0x2d;
/** 1 at the code of a hexadecimal digit of either case. */
const IS_HEX_DIGIT = new Uint8Array(128);
for (const digit of Buffer.from('0123456789abcdefABCDEF')) IS_HEX_DIGIT[digit] = 1;
const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const MAX_INT64 = 2n ** 63n - 1n;
// Parsing thousands of lines in one go would hold up every stream the process is relaying.
const LINES_PER_TURN = 250;

/** How a kind of value is written in a line, and what it must be. */
interface Form {
  /** Names the value that was expected, if it differs. */
  readonly check?: (value: never, request: FinishedRequest) => string | undefined;
  /** The value as JSON. If undefined, as a template literal writes it. */
  readonly encode?: (value: never) => string;
  /** Restores a value that JSON.parse does not give back as it was. */
  readonly decode?: (value: never) => unknown;
}

const plain: Form = {};
const text: Form = { encode: quoted };
const uuid: Form = { check: (value) => (isUuid(value) ? undefined : 'a UUID'), encode: inQuotes };
const int64: Form = {
  check: (value) =>
    typeof value === 'bigint' && value >= 0n && value <= MAX_INT64 ? undefined : 'a bigint from 0 to 2^63-1',
  encode: inQuotes,
  decode: (digits: string) => BigInt(digits),
};
// Numbers are finite: finishRequest ensures it.
const FORMS: Readonly<Record<RequestLogKind, Form>> = {
  requestId: uuid,
  uuid,
  reference: {
    // What costs something or holds credit belongs to one key.
    check: (value: string | null, { costMicroPkr, isHeld }) =>
      (value === null && costMicroPkr === 0n && !isHeld) || isUuid(value) ? undefined : 'a UUID',
    encode: inQuotes,
  },
  text,
  // One of a few words without characters to escape.
  termination: { encode: inQuotes },
  labels: {
    encode: labelsAsEntries,
    decode: (entries: [string, string][]) => new Map(entries),
  },
  attempts: {
    encode: attemptsToJson,
    // Earlier versions wrote none.
    decode: (stored: unknown[] | undefined) => attemptsFromJson(stored ?? []),
  },
  boolean: plain,
  flag: plain,
  status: plain,
  count: plain,
  requests: plain,
  milliseconds: plain,
  microPkr: int64,
  instant: int64,
};

// Every record has four ids: this takes half the time of a regular expression.
function isUuid(value: unknown): boolean {
  if (typeof value !== 'string' || value.length !== 36) return false;
  for (let at = 0; at < 36; at += 1) {
    const code = value.charCodeAt(at);
    if (at === 8 || at === 13 || at === 18 || at === 23) {
      if (code !== HYPHEN) return false;
    } else if (IS_HEX_DIGIT[code] !== 1) return false;
  }
  return true;
}

function inQuotes(value: string | bigint): string {
  return `"${value}"`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that JSON escapes
const ESCAPED = /[\u0000-\u001f"\\\ud800-\udfff]/;

function quoted(value: string): string {
  return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
}

function labelsAsEntries(labels: ReadonlyMap<string, string>): string {
  if (labels.size === 0) return '[]';
  let entries = '';
  for (const [name, value] of labels) entries += `${entries && ','}[${quoted(name)},${quoted(value)}]`;
  return `[${entries}]`;
}

const MEMBERS = requestLogColumns.map(({ field, kind }) => ({
  field,
  prefix: `,"${field}":`,
  null: `,"${field}":null`,
  encode: FORMS[kind].encode,
}));
const CHECKED = requestLogColumns.flatMap(({ field, kind }) => {
  const { check } = FORMS[kind];
  return check ? [{ field, check }] : [];
});
const DECODED = requestLogColumns.flatMap(({ field, kind }) => {
  const { decode } = FORMS[kind];
  return decode ? [{ field, decode }] : [];
});
const NULLABLE = requestLogColumns.flatMap(({ field, isNullable }) => (isNullable ? [field] : []));

/**
 * The record as its line. Throws a TypeError for an id that is not a UUID, or an amount or time that no column can hold:
 * the ledger would never accept such a record.
 */
export function encodeLine(request: FinishedRequest): string {
  for (const { field, check } of CHECKED) {
    const expected = check(request[field] as never, request);
    if (expected !== undefined) throw new TypeError(`${field} of a finished request is not ${expected}`);
  }
  let json = `{"isHeld":${request.isHeld}`;
  if (request.windowIds) json += `,"windowIds":${quoted(request.windowIds)}`;
  for (const member of MEMBERS) {
    const value = request[member.field] as never;
    if (value === null) json += member.null;
    else if (value !== undefined) json += member.prefix + (member.encode ? member.encode(value) : value);
  }
  json += '}';
  return `${hexOf(crc32(json))} ${json}\n`;
}

/** A checksum as eight digits. */
function hexOf(crc: number): string {
  const byte = (shift: number) => HEX_OF_BYTE[(crc >>> shift) & 0xff] ?? '';
  return byte(24) + byte(16) + byte(8) + byte(0);
}

/** The requests in some bytes of a segment. */
export interface Span {
  readonly requests: readonly FinishedRequest[];
  /** The end of each request's line, in bytes from the start. */
  readonly ends: readonly number[];
  /** Whole lines whose checksum or form is wrong, without their line feed. */
  readonly damaged: readonly Buffer[];
  /** The bytes up to the end of the last intact line, and up to the end of the last whole line. */
  readonly intactBytes: number;
  readonly wholeBytes: number;
}

/** Reads lines from the start of `bytes`. A last line without its line feed is no line yet. */
export async function decodeLines(bytes: Buffer): Promise<Span> {
  const requests: FinishedRequest[] = [];
  const ends: number[] = [];
  const damaged: Buffer[] = [];
  let intactBytes = 0;
  let start = 0;
  for (let lines = 1; ; lines += 1) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end < 0) break;
    const request = decodeLine(bytes.subarray(start, end));
    if (request) {
      requests.push(request);
      ends.push(end + 1);
      intactBytes = end + 1;
    } else {
      damaged.push(bytes.subarray(start, end));
    }
    start = end + 1;
    if (lines % LINES_PER_TURN === 0) await setImmediate();
  }
  return { requests, ends, damaged, intactBytes, wholeBytes: start };
}

function decodeLine(line: Buffer): FinishedRequest | undefined {
  if (line[CHECKSUM_DIGITS] !== SPACE) return undefined;
  const json = line.subarray(CHECKSUM_DIGITS + 1);
  const checksum = line.toString('latin1', 0, CHECKSUM_DIGITS);
  if (hexOf(crc32(json)) !== checksum) return undefined;
  // The checksum vouches for the form: encodeLine wrote the text, of this version or of an earlier one, which may lack
  // columns that came later.
  const request: Record<string, unknown> = JSON.parse(json.toString('utf8'));
  for (const { field, decode } of DECODED) request[field] = decode(request[field] as never);
  for (const field of NULLABLE) if (request[field] === undefined) request[field] = null;
  return request as unknown as FinishedRequest;
}
