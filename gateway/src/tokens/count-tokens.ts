import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CountMemory } from './remembered-counts.ts';

// Counting tokens is pure computation on text that any caller may choose. Three things keep it from blocking its
// thread:
//   - The merge step takes time quadratic in the length of a run without a break (64 KiB of one letter: a
//     second), so the text is counted in segments of at most 512 characters, cut before the space between two words
//     where there is one. A cut there changes nothing; a cut inside a run adds a token or two in 512 characters.
//   - Every 16 KiB the thread is given back to others.
//   - Past a million characters the text is no longer split into tokens: its UTF-8 length is taken instead. No
//     token is shorter than a byte, so this errs on the side of too many.
const SEGMENT_CHARACTERS = 512;
const CHARACTERS_PER_TURN = 16_384;
const EXACT_CHARACTERS = 1_000_000;

const BLANK = /\s/;

// Its tables take a fifth of a second to load. A gateway process has them before it serves.
let exact: typeof import('./exact-count.ts') | undefined;

/**
 * The number of tokens (o200k_base) in these texts together. Never fewer than there are, give or take a cut. Texts that the
 * memory knows are not counted again.
 */
export async function countTokens(texts: Iterable<string>, memory?: CountMemory): Promise<number> {
  let tokens = 0;
  let characters = 0;
  let sinceTurn = 0;
  for (const text of texts) {
    const isExact = characters + text.length <= EXACT_CHARACTERS;
    const known = isExact ? memory?.find(text) : undefined;
    if (known !== undefined) {
      tokens += known;
      characters += text.length;
      continue;
    }
    exact ??= await import('./exact-count.ts');
    const before = tokens;
    for (let start = 0; start < text.length; ) {
      if (characters >= EXACT_CHARACTERS) {
        tokens += Buffer.byteLength(text.slice(start));
        break;
      }
      const end = segmentEnd(text, start);
      // A copy: a slice would keep the whole of its text in memory for as long as a word of it is remembered.
      tokens += exact.countExactly(Buffer.from(text.slice(start, end)).toString());
      characters += end - start;
      sinceTurn += end - start;
      start = end;
      if (sinceTurn >= CHARACTERS_PER_TURN) {
        sinceTurn = 0;
        await nextTurn();
      }
    }
    if (isExact) memory?.keep(text, tokens - before);
  }
  return tokens;
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
