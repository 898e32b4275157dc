import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { type CountTime, onceFor } from './count-time.ts';
import { countExactly, MAX_COUNTED_CHARACTERS as SEGMENT_CHARACTERS } from './exact-count.ts';
import type { CountMemory } from './remembered-counts.ts';

// Counting tokens is pure computation on text that any caller may choose. Four things keep it from blocking others:
//   - The text is counted in segments of at most 512 characters, cut before the space between two words where there is
//     one. A cut there changes nothing; a cut inside a run adds a token or two in 512 characters.
//   - A character takes some 70 ns in prose, and up to 600 in random characters of all scripts. So a count stops by the
//     time that it has used, between pieces of two segments.
//   - What is left then is counted in reader threads, or bounded by its bytes (reader-pool.ts).
//   - Past a million characters the text is no longer split into tokens: its UTF-8 length is taken instead. No
//     token is shorter than a byte, so this errs on the side of too many.
const PIECE_CHARACTERS = 2 * SEGMENT_CHARACTERS;
/** A text this short is counted in any case: elsewhere it would cost as much to pass on. */
const SHORT_CHARACTERS = SEGMENT_CHARACTERS;
export const EXACT_CHARACTERS = 1_000_000;
const TURN_MS = 4;
/** Texts are counted at least so long before the time is asked for again, which costs as much as some characters. */
const UNTIMED_CHARACTERS = 512;
const CHARACTERS_OF_A_LOOK = 8;

const BLANK = /\s/;

/**
 * The number of tokens (o200k_base) in these texts together. Never fewer than there are, give or take a cut. Every few
 * milliseconds the thread is given back to others, for `pauseMs` where it is given, else for their turn.
 */
export async function countTokens(texts: Iterable<string>, pauseMs = 0): Promise<number> {
  let { tokens, rest } = countFor(turnTime(), texts);
  while (rest.length > 0) {
    await (pauseMs > 0 ? delay(pauseMs) : nextTurn());
    const more = countFor(turnTime(), rest);
    tokens += more.tokens;
    rest = more.rest;
  }
  return tokens;
}

const turnTime = () => onceFor(TURN_MS, () => performance.now());

/** A count that stopped in time. */
export interface PartialCount {
  readonly tokens: number;
  /** The part of the texts that is not counted yet, in pieces that are counted like the whole. */
  readonly rest: readonly string[];
}

/**
 * Counts while there is time. Where there is some, that is a piece of 1,024 characters at least; where there is none, it is
 * short texts, and what the memory knows. The time is used before anything else runs.
 */
export function countFor(time: CountTime, texts: Iterable<string>, memory?: CountMemory): PartialCount {
  const beganAt = time.now();
  const available = time.available();
  const rest: string[] = [];
  let tokens = 0;
  let characters = 0;
  let untimed = 0;
  let isTime = available > 0;
  for (const text of texts) {
    let restStart: number | undefined;
    const endRest = (end: number) => {
      if (restStart !== undefined) rest.push(text.slice(restStart, end));
      restStart = undefined;
    };
    for (let start = 0; start < text.length; ) {
      const end = pieceEnd(text, start);
      if (characters + end - start > EXACT_CHARACTERS) {
        characters = EXACT_CHARACTERS;
        tokens += Buffer.byteLength(start === 0 ? text : text.slice(start));
        endRest(start);
        break;
      }
      const piece = start === 0 && end === text.length ? text : text.slice(start, end);
      characters += piece.length;
      const known = memory?.find(piece);
      if (known === undefined && !isTime && characters > SHORT_CHARACTERS) {
        restStart ??= start;
      } else {
        endRest(start);
        tokens += known ?? countPiece(piece, memory);
      }
      start = end;
      untimed += piece.length + CHARACTERS_OF_A_LOOK;
      if (!isTime || untimed < UNTIMED_CHARACTERS) continue;
      untimed = 0;
      isTime = time.now() - beganAt <= available;
    }
    endRest(text.length);
  }
  time.use(time.now() - beganAt);
  return { tokens, rest };
}

function countPiece(piece: string, memory: CountMemory | undefined): number {
  let tokens = 0;
  for (let start = 0; start < piece.length; ) {
    const end = segmentEnd(piece, start);
    tokens += countExactly(piece.slice(start, end));
    start = end;
  }
  memory?.keep(piece, tokens);
  return tokens;
}

/** The end of the piece that begins at `start`: after whole segments, so that it is counted like the text as a whole. */
function pieceEnd(text: string, start: number): number {
  let end = start;
  do end = segmentEnd(text, end);
  while (end < text.length && end - start <= PIECE_CHARACTERS - SEGMENT_CHARACTERS);
  return end;
}

/** The end of the segment that begins at `start`: at the last space between words, or as late as it may. */
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
