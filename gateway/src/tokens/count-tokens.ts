import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CountMemory } from './remembered-counts.ts';

// Counting tokens is pure computation on text that any caller may choose. Four things keep it from blocking others:
//   - The merge step takes time quadratic in the length of a run without a break (64 KiB of one letter: a
//     second), so the text is counted in segments of at most 512 characters, cut before the space between two words
//     where there is one. A cut there changes nothing; a cut inside a run adds a token or two in 512 characters.
//   - A character takes 10 ns in English prose, and 3 µs in random ideographs. So a count stops by the time that has passed,
//     between pieces of two segments.
//   - What is left then is counted in a reader thread, a few milliseconds at a time: reader-pool.ts.
//   - Past a million characters the text is no longer split into tokens: its UTF-8 length is taken instead. No
//     token is shorter than a byte, so this errs on the side of too many.
const SEGMENT_CHARACTERS = 512;
const PIECE_CHARACTERS = 2 * SEGMENT_CHARACTERS;
/** So short a text is counted in any case: elsewhere it would cost as much to pass on. */
const SHORT_CHARACTERS = SEGMENT_CHARACTERS;
const EXACT_CHARACTERS = 1_000_000;
const TURN_MS = 4;

const BLANK = /\s/;

// Its tables take a fifth of a second to load. A gateway process has them before it serves.
let exact: typeof import('./exact-count.ts') | undefined;

/**
 * The number of tokens (o200k_base) in these texts together. Never fewer than there are, give or take a cut. Texts that the
 * memory knows are not counted again. Every few milliseconds the thread is given back to others.
 */
export async function countTokens(texts: Iterable<string>, memory?: CountMemory): Promise<number> {
  let { tokens, rest } = await countFor(TURN_MS, texts, memory);
  while (rest.length > 0) {
    await nextTurn();
    const more = await countFor(TURN_MS, rest, memory);
    tokens += more.tokens;
    rest = more.rest;
  }
  return tokens;
}

/** A count that stopped in time. */
export interface PartialCount {
  readonly tokens: number;
  /** The pieces of the texts that are not counted yet. */
  readonly rest: readonly string[];
  readonly tookMs: number;
}

/** Counts for about so many milliseconds: one piece of 1,024 characters at least, or short texts only where there are none. */
export async function countFor(
  milliseconds: number,
  texts: Iterable<string>,
  memory?: CountMemory,
): Promise<PartialCount> {
  exact ??= await import('./exact-count.ts');
  const beganAt = performance.now();
  const rest: string[] = [];
  let tokens = 0;
  let characters = 0;
  let isTime = milliseconds > 0;
  for (const text of texts) {
    for (let start = 0; start < text.length; ) {
      const end = pieceEnd(text, start);
      if (characters + end - start > EXACT_CHARACTERS) {
        characters = EXACT_CHARACTERS;
        tokens += Buffer.byteLength(start === 0 ? text : text.slice(start));
        break;
      }
      const piece = start === 0 && end === text.length ? text : text.slice(start, end);
      characters += piece.length;
      start = end;
      if (!isTime && characters > SHORT_CHARACTERS) {
        rest.push(piece);
        continue;
      }
      tokens += countPiece(piece, exact.countExactly, memory);
      isTime &&= performance.now() - beganAt <= milliseconds;
    }
  }
  return { tokens, rest, tookMs: performance.now() - beganAt };
}

function countPiece(piece: string, count: (text: string) => number, memory: CountMemory | undefined): number {
  const known = memory?.find(piece);
  if (known !== undefined) return known;
  let tokens = 0;
  for (let start = 0; start < piece.length; ) {
    const end = segmentEnd(piece, start);
    // A copy: a slice would keep the whole of its text in memory for as long as a word of it is remembered.
    tokens += count(Buffer.from(piece.slice(start, end)).toString());
    start = end;
  }
  memory?.keep(piece, tokens);
  return tokens;
}

/** Where the piece that begins at `start` ends: after whole segments, so that it is counted like the text as a whole. */
function pieceEnd(text: string, start: number): number {
  let end = start;
  do end = segmentEnd(text, end);
  while (end < text.length && end - start <= PIECE_CHARACTERS - SEGMENT_CHARACTERS);
  return end;
}

/** Where the segment that begins at `start` ends: at the last space between words, or as late as it may. */
export function segmentEnd(text: string, start: number): number {
  const longest = start + SEGMENT_CHARACTERS;
  if (longest >= text.length) return text.length;
  for (let end = longest; end > start + SEGMENT_CHARACTERS / 2; end -= 1) {
    if (text.charAt(end) === ' ' && !BLANK.test(text.charAt(end - 1)) && !BLANK.test(text.charAt(end + 1))) {
      return end;
    }
  }
  const code = text.charCodeAt(longest);
  // Not between the two halves of a character outside the basic plane.
  return code >= 0xdc00 && code <= 0xdfff ? longest - 1 : longest;
}
