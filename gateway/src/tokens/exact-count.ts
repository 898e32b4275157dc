import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base';

// Repeated words are remembered by the library; each entry keeps the segment alive that it was cut from. It moves a word that it
// finds to the end of a map, which then looks through all that were moved before: with ten times as many, that takes longer than
// to count most words.
setMergeCacheSize(1_000);

// Text that spells a special token is text like any other; the library's default is to throw.
const asPlainText = { disallowedSpecial: new Set<string>() };

/** The tokens of a short text. */
export function countExactly(text: string): number {
  return countTokens(text, asPlainText);
}
