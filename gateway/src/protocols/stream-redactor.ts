import { REDACTED, type Redaction } from './redaction.ts';

// A secret that a model repeats comes in pieces, a few letters an event, and the caller's client puts them together.
// So each text that is generated is compared with the secret as it passes. Where as much of it has come as cannot be
// chance, the events are held until the rest has come too, and is taken out, or something else has, and they go on as
// they were. The few letters before that have been sent; they are of no use.

// As much of the beginning of a secret as may pass. Most begin with a word that says whose key it is.
const SHOWN_CHARACTERS = 7;
// No secret takes so much to spell. What is held by then is taken for the secret.
const MAX_HELD_BYTES = 256 * 1024;
const MAX_VOICES = 4_096;

/** A text in an event, as far as this is concerned with it. */
export interface SpokenPiece {
  readonly voice: string;
  readonly text: string;
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

interface Passing<P extends SpokenPiece> {
  readonly event: Buffer;
  readonly pieces: readonly P[];
  readonly spans: Map<P, Span[]>;
  /** Makes the event again with these texts in place of its own. */
  readonly rewrite: (texts: ReadonlyMap<P, string>) => Buffer;
}

/** Keeps a secret out of a stream of events, byte for byte otherwise. */
export class StreamRedactor<P extends SpokenPiece> {
  readonly #secret: string;
  readonly #fallback: readonly number[];
  readonly #most: number;
  /** How much of the secret each text ends with; those with nothing of it are left out. */
  readonly #matched = new Map<string, number>();
  #held: Passing<P>[] = [];
  #heldBytes = 0;

  constructor({ secret }: Redaction) {
    this.#secret = secret;
    this.#fallback = fallbackOf(secret);
    this.#most = Math.min(SHOWN_CHARACTERS, Math.floor(secret.length / 2));
  }

  /** The bytes that it holds in memory. */
  get keptBytes(): number {
    return this.#heldBytes;
  }

  /** Takes the next event and returns those that may go on, in order. */
  pass(event: Buffer, pieces: readonly P[], rewrite: Passing<P>['rewrite']): Buffer[] {
    const passing: Passing<P> = { event, pieces, rewrite, spans: new Map() };
    for (const piece of pieces) this.#follow(passing, piece);
    if (!this.#isOpen() && this.#held.length === 0) return [written(passing)];
    this.#held.push(passing);
    this.#heldBytes += event.length;
    if (!this.#isOpen()) return this.#release();
    return this.#heldBytes > MAX_HELD_BYTES ? this.#cutOpen(0) : [];
  }

  /** The bytes that are still held. The stream is over: of a secret that was cut off in its second half nothing is shown. */
  end(): Buffer[] {
    return this.#cutOpen(this.#secret.length / 2);
  }

  #isOpen(): boolean {
    if (this.#matched.size === 0) return false;
    for (const matched of this.#matched.values()) if (matched > this.#most) return true;
    return false;
  }

  #follow(passing: Passing<P>, piece: P): void {
    const { voice, text } = piece;
    let matched = this.#matched.get(voice) ?? 0;
    if (matched === 0 && !text.includes(this.#secret.charAt(0))) return;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      while (matched > 0 && code !== this.#secret.charCodeAt(matched))
        matched = this.#fallback[matched - 1] ?? 0;
      if (code === this.#secret.charCodeAt(matched)) matched += 1;
      if (matched < this.#secret.length) continue;
      this.#cut(passing, piece, at + 1, matched);
      matched = 0;
    }
    if (matched === 0) this.#matched.delete(voice);
    else if (this.#matched.size < MAX_VOICES || this.#matched.has(voice)) this.#matched.set(voice, matched);
  }

  /** Marks the `length` characters of the piece's text before `to`, and those of held events where it is shorter. */
  #cut(passing: Passing<P>, piece: P, to: number, length: number): void {
    const marks: { passing: Passing<P>; piece: P; from: number; to: number }[] = [];
    const mark = (holder: Passing<P>, one: P, end: number): void => {
      const from = Math.max(0, end - length);
      length -= end - from;
      marks.push({ passing: holder, piece: one, from, to: end });
    };
    mark(passing, piece, to);
    // A text may repeat the secret many thousand times, so nothing else is looked at where all of it is in this piece.
    if (length > 0) {
      const before = passing.pieces.slice(0, passing.pieces.indexOf(piece)).toReversed();
      for (const one of before)
        if (length > 0 && one.voice === piece.voice) mark(passing, one, one.text.length);
      for (const holder of this.#held.toReversed()) {
        if (length <= 0) break;
        if (holder === passing) continue;
        for (const one of holder.pieces.toReversed()) {
          if (length > 0 && one.voice === piece.voice) mark(holder, one, one.text.length);
        }
      }
    }
    marks.forEach(({ passing: { spans }, piece: one, from, to: end }, index) => {
      const by = index === marks.length - 1 ? REDACTED : '';
      const cuts = spans.get(one);
      if (cuts) cuts.push({ from, to: end, by });
      else spans.set(one, [{ from, to: end, by }]);
    });
  }

  /** Takes out what has come of the secret where it is more than `least` characters, and lets everything go. */
  #cutOpen(least: number): Buffer[] {
    for (const [voice, matched] of this.#matched) {
      if (matched <= Math.max(least, this.#most)) continue;
      const holder = this.#held.findLast(({ pieces }) => pieces.some((piece) => piece.voice === voice));
      const piece = holder?.pieces.findLast((one) => one.voice === voice);
      if (holder && piece) this.#cut(holder, piece, piece.text.length, matched);
    }
    this.#matched.clear();
    return this.#release();
  }

  #release(): Buffer[] {
    const events = this.#held.map(written);
    this.#held = [];
    this.#heldBytes = 0;
    return events;
  }
}

function written<P extends SpokenPiece>({ event, spans, rewrite }: Passing<P>): Buffer {
  if (spans.size === 0) return event;
  const texts = new Map<P, string>();
  for (const [piece, cuts] of spans) {
    let text = '';
    let at = 0;
    for (const { from, to, by } of cuts) {
      text += piece.text.slice(at, from) + by;
      at = to;
    }
    texts.set(piece, text + piece.text.slice(at));
  }
  return rewrite(texts);
}

/** For each beginning of the text, how long the longest shorter beginning is that it ends with. */
function fallbackOf(text: string): number[] {
  const fallback = [0];
  for (let at = 1, matched = 0; at < text.length; at += 1) {
    while (matched > 0 && text[at] !== text[matched]) matched = fallback[matched - 1] ?? 0;
    if (text[at] === text[matched]) matched += 1;
    fallback.push(matched);
  }
  return fallback;
}
