import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { FinishedRequest } from './finished-request.ts';

/**
 * One record is one line: eight hexadecimal digits of CRC-32, a space, JSON, a line feed. JSON never holds a raw
 * line feed, so a line that a crash cut short, or a disk garbled, is told by its checksum, and the next line
 * feed is always a place to read on from.
 */

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const CHECKSUM_DIGITS = 8;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const LARGEST_INT64 = 2n ** 63n - 1n;
// Parsing thousands of lines in one go would hold up every stream the process is relaying.
const LINES_PER_TURN = 250;

/**
 * The record as its line. Throws a TypeError for an id that is no uuid, or an amount or time that no column
 * can hold: shipped, such a record would be refused by the ledger for ever.
 */
export function encodeLine(request: FinishedRequest): string {
  for (const field of ['requestId', 'organizationId', 'keyId', 'projectId'] as const) {
    const id = request[field];
    const isShared = id === null && request.costMicroPkr === 0n && !request.isHeld;
    if (!isShared && !UUID.test(id ?? ''))
      throw new TypeError(`${field} of a finished request is not a uuid`);
  }
  for (const field of ['costMicroPkr', 'startedAtMicros'] as const) {
    const value = request[field];
    if (typeof value !== 'bigint' || value < 0n || value > LARGEST_INT64) {
      throw new TypeError(`${field} of a finished request is not a bigint from 0 to 2^63-1`);
    }
  }
  const json = JSON.stringify({
    requestId: request.requestId,
    organizationId: request.organizationId,
    keyId: request.keyId,
    projectId: request.projectId,
    startedAtMicros: String(request.startedAtMicros),
    model: storable(request.model),
    status: finite(request.status),
    isStream: request.isStream,
    totalMs: finite(request.totalMs),
    ttftMs: finiteOrNull(request.ttftMs),
    tpotMs: finiteOrNull(request.tpotMs),
    preDispatchMs: finite(request.preDispatchMs),
    promptTokens: finiteOrNull(request.promptTokens),
    tokensGenerated: finite(request.tokensGenerated),
    cacheCreationInputTokens: finiteOrNull(request.cacheCreationInputTokens),
    cacheReadInputTokens: finiteOrNull(request.cacheReadInputTokens),
    totalTokens: finite(request.totalTokens),
    tokensEstimated: request.tokensEstimated,
    costMicroPkr: String(request.costMicroPkr),
    isByok: request.isByok,
    terminationReason: request.terminationReason,
    refusal: request.refusal,
    upstreamError: request.upstreamError === null ? null : storable(request.upstreamError),
    upstreamModel: request.upstreamModel === null ? null : storable(request.upstreamModel),
    userAgent: storable(request.userAgent),
    metadata: Array.from(request.metadata, ([name, value]) => [storable(name), storable(value)]),
    isHeld: request.isHeld,
    requestCount: request.requestCount,
  });
  return `${crc32(json).toString(16).padStart(CHECKSUM_DIGITS, '0')} ${json}\n`;
}

/** What some bytes of a segment say. */
export interface Span {
  readonly requests: readonly FinishedRequest[];
  /** Whole lines whose checksum or form is wrong, without their line feed. */
  readonly damaged: readonly Buffer[];
  /** The bytes up to the end of the last intact line, and up to the end of the last whole line. */
  readonly intactBytes: number;
  readonly wholeBytes: number;
}

/** Reads lines from the start of `bytes`. A last line without its line feed is no line yet. */
export async function decodeLines(bytes: Buffer): Promise<Span> {
  const requests: FinishedRequest[] = [];
  const damaged: Buffer[] = [];
  let intactBytes = 0;
  let start = 0;
  for (let lines = 1; ; lines += 1) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end < 0) break;
    const request = decodeLine(bytes.subarray(start, end));
    if (request) {
      requests.push(request);
      intactBytes = end + 1;
    } else {
      damaged.push(bytes.subarray(start, end));
    }
    start = end + 1;
    if (lines % LINES_PER_TURN === 0) await setImmediate();
  }
  return { requests, damaged, intactBytes, wholeBytes: start };
}

function decodeLine(line: Buffer): FinishedRequest | undefined {
  if (line[CHECKSUM_DIGITS] !== SPACE) return undefined;
  const json = line.subarray(CHECKSUM_DIGITS + 1);
  const checksum = line.toString('latin1', 0, CHECKSUM_DIGITS);
  if (crc32(json).toString(16).padStart(CHECKSUM_DIGITS, '0') !== checksum) return undefined;
  // The checksum vouches for the form: the text is what encodeLine made.
  const fields = JSON.parse(json.toString('utf8'));
  return {
    ...fields,
    startedAtMicros: BigInt(fields.startedAtMicros),
    costMicroPkr: BigInt(fields.costMicroPkr),
    metadata: new Map(fields.metadata),
  };
}

// A provider may say anything. What no store can hold must not cost the whole record.
function storable(text: string): string {
  if (text.isWellFormed() && !text.includes('\0')) return text;
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

function finiteOrNull(value: number | null): number | null {
  return value === null || !Number.isFinite(value) ? null : value;
}
