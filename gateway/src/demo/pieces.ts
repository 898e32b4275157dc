/** A word with the space before it, or so many characters of a longer one. */
const PIECE = /\s{0,31}\S{1,32}|\s{1,32}/gu;

/** The pieces in which a text is streamed. */
export function* piecesOf(text: string): Generator<string> {
  for (const [piece] of text.matchAll(PIECE)) yield piece;
}
