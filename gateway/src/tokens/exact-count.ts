import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { readO200kTable } from './o200k-table.ts';
import { type RankTable, rankOf, readRankTable } from './rank-table.ts';

// Byte pair encoding: a text is split into words, and a word that is no token begins as its bytes. Of all neighbours that are a token
// together, those with the lowest rank are joined, the first of them first, until there are none. Pairs wait in a heap, so the time
// grows with the length of a word and its logarithm. The bytes of one text are in work at a time, in memory that is taken once.

/** The longest text that is counted: of so many characters, each of three bytes at most. */
export const MAX_COUNTED_CHARACTERS = 512;
const MAX_BYTES = 3 * MAX_COUNTED_CHARACTERS;
/** A pair is one number: its rank, and in so many bits where it begins. */
const START_BITS = 11;
const START = 2 ** START_BITS - 1;
const NONE = -1;

/** Read with the first text: not every process counts. */
let table: RankTable | undefined;
const utf8 = new TextEncoder();
const word = new Uint8Array(MAX_BYTES);
/** By the first byte of a part of the word: where the part after it begins, where the one before it does, and the rank of both together. */
const next = new Int32Array(MAX_BYTES + 1);
const previous = new Int32Array(MAX_BYTES + 1);
const ranks = new Int32Array(MAX_BYTES + 1);
/** Each pair of bytes waits once, and each join adds two pairs at most. */
const heap = new Int32Array(3 * MAX_BYTES);
let waiting = 0;

/** The tokens (o200k_base) of a text of at most MAX_COUNTED_CHARACTERS. A special token's name is text like any other. */
export function countExactly(text: string): number {
  if (text.length > MAX_COUNTED_CHARACTERS) throw new RangeError(`a text of ${text.length} characters`);
  table ??= readRankTable(readO200kTable());
  let tokens = 0;
  let start = 0;
  O200K_TOKEN_SPLIT_REGEX.lastIndex = 0;
  while (O200K_TOKEN_SPLIT_REGEX.test(text)) {
    const end = O200K_TOKEN_SPLIT_REGEX.lastIndex;
    const length = writeWord(text, start, end);
    tokens += rankOf(table, word, 0, length) === NONE ? tokensOfWord(table, length) : 1;
    start = end;
  }
  return tokens;
}

/** Writes a part of the text as UTF-8, half a character as U+FFFD. Returns the number of bytes. */
function writeWord(text: string, start: number, end: number): number {
  let length = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    // A word ends where other characters begin.
    if (code >= 0x80) return utf8.encodeInto(text.slice(start, end), word).written;
    word[length] = code;
    length += 1;
  }
  return length;
}

/** The tokens of the word that is written, after all joins. */
function tokensOfWord(table: RankTable, length: number): number {
  waiting = 0;
  for (let start = 0; start < length; start += 1) {
    next[start] = start + 1;
    previous[start] = start - 1;
  }
  for (let start = 0; start < length; start += 1) rankPair(table, start, length);
  let parts = length;
  while (waiting > 0) {
    const pair = takeLowest();
    const start = pair & START;
    // One of the two was joined with another meanwhile.
    if (ranks[start] !== pair >> START_BITS) continue;
    const second = next[start] as number;
    const after = next[second] as number;
    next[start] = after;
    if (after < length) previous[after] = start;
    ranks[second] = NONE;
    parts -= 1;
    rankPair(table, start, length);
    if (start > 0) rankPair(table, previous[start] as number, length);
  }
  return parts;
}

/** Ranks the part that begins here with the one after it, and has the pair wait if both are a token. */
function rankPair(table: RankTable, start: number, length: number): void {
  const second = next[start] as number;
  const rank = second < length ? rankOf(table, word, start, next[second] as number) : NONE;
  ranks[start] = rank;
  if (rank === NONE) return;
  const pair = (rank << START_BITS) | start;
  let place = waiting++;
  while (place > 0) {
    const parent = (place - 1) >> 1;
    if ((heap[parent] as number) <= pair) break;
    heap[place] = heap[parent] as number;
    place = parent;
  }
  heap[place] = pair;
}

function takeLowest(): number {
  const lowest = heap[0] as number;
  const last = heap[--waiting] as number;
  let place = 0;
  for (let child = 1; child < waiting; child = 2 * place + 1) {
    if (child + 1 < waiting && (heap[child + 1] as number) < (heap[child] as number)) child += 1;
    if ((heap[child] as number) >= last) break;
    heap[place] = heap[child] as number;
    place = child;
  }
  heap[place] = last;
  return lowest;
}
