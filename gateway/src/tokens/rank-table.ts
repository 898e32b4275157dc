// Tokens and their ranks as bytes in one block, which a file can hold: a Map of 200,000 strings takes 36 MB and a fifth of a second
// for each thread that counts, this 4 MB and a hundredth. In the order of the block: the number of tokens; a hash table of ranks; where
// the bytes of each token begin; the bytes.

/** A power of two, and more than twice as many as there are tokens: a search looks at one or two. */
const PLACES = 2 ** 19;
const EMPTY = -1;

export interface RankTable {
  readonly places: Int32Array;
  readonly starts: Int32Array;
  readonly bytes: Uint8Array;
}

/** The block for tokens in the order of their ranks: text, bytes, or nothing where a rank is not used. */
export function writeRankTable(tokens: readonly (string | readonly number[] | undefined)[]): Buffer {
  const places = new Int32Array(PLACES).fill(EMPTY);
  const starts = new Int32Array(tokens.length + 1);
  // A character is three bytes at most, or two of them four.
  const bytes = Buffer.alloc(3 * tokens.reduce((sum, { length } = '') => sum + length, 0));
  let end = 0;
  for (const [rank, token = ''] of tokens.entries()) {
    const start = end;
    if (typeof token === 'string') end += bytes.write(token, start);
    else for (const byte of token) bytes[end++] = byte;
    starts[rank + 1] = end;
    if (start === end) continue;
    let place = placeOf(bytes, start, end);
    while (places[place] !== EMPTY) place = (place + 1) % PLACES;
    places[place] = rank;
  }
  const parts = [Int32Array.of(tokens.length), places, starts].map(({ buffer }) => Buffer.from(buffer));
  return Buffer.concat([...parts, bytes.subarray(0, end)]);
}

/** The table in a block, which it uses and does not copy. */
export function readRankTable({ buffer, byteOffset, length }: Buffer): RankTable {
  const [tokens = 0] = new Int32Array(buffer, byteOffset, 1);
  const places = new Int32Array(buffer, byteOffset + 4, PLACES);
  const starts = new Int32Array(buffer, places.byteOffset + places.byteLength, tokens + 1);
  const end = starts.byteOffset + starts.byteLength;
  return { places, starts, bytes: new Uint8Array(buffer, end, byteOffset + length - end) };
}

/** The rank of the token that is spelled by the bytes from `start` to `end`, or -1. */
export function rankOf(table: RankTable, spelling: Uint8Array, start: number, end: number): number {
  const { places, starts, bytes } = table;
  for (let place = placeOf(spelling, start, end); ; place = (place + 1) % PLACES) {
    const rank = places[place] as number;
    if (rank === EMPTY) return EMPTY;
    const offset = (starts[rank] as number) - start;
    if ((starts[rank + 1] as number) - offset !== end) continue;
    let at = start;
    while (at < end && bytes[offset + at] === spelling[at]) at += 1;
    if (at === end) return rank;
  }
}

// FNV-1a, with its upper half mixed into the bits that are used.
function placeOf(spelling: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (spelling[at] as number), 0x01000193);
  return (hash ^ (hash >>> 15)) & (PLACES - 1);
}
