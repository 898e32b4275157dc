import { parseJson } from '../wire/answer-json.ts';
import { MIN_SECRET_LENGTH, type Redaction } from '../wire/redaction.ts';

// Most events of a stream differ from the one before in a piece of text alone. Such an event is told by its bytes: all that
// is not the text is as it was, and the text is the inside of one JSON string. Then it is neither taken apart nor parsed.
// Beside the text two members may differ that no reader looks at: a number that is counted up, and OpenAI's padding.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CONTROLS_END = 0x20;
const ASCII_END = 0x80;
/** A longer one could hold a credential. */
const MAX_DIGITS = 7;
/** A larger event has no form: the bytes around its text would be kept as long as the stream. Most have some 200. */
const MAX_FORM_BYTES = 4 * 1024;

interface Hole {
  readonly start: number;
  readonly end: number;
  readonly kind: 'text' | 'padding' | 'number';
}

/** Bytes that the caller does not get: the literal that holds them, and where they lie in it. */
interface Cut {
  readonly literal: number;
  readonly start: number;
  readonly length: number;
}

/** Events that differ from a given one in their text alone. A character of the strings in here is a byte. */
export class TextForm {
  /** The bytes before each hole, and after the last. */
  readonly #literals: readonly string[];
  readonly #kinds: readonly Hole['kind'][];
  readonly #redaction: Redaction | undefined;
  readonly #cut: Cut | undefined;
  /** The place of the cut in the event that was read last. */
  #cutAt = 0;
  /** True if the string that was gone through last is all ASCII, and without escapes. */
  #isAscii = true;
  #isPlain = true;

  private constructor(
    source: string,
    holes: readonly Hole[],
    shown: string,
    redaction: Redaction | undefined,
  ) {
    const starts = [0, ...holes.map(({ end }) => end)];
    // Copied, so that each lies in one piece.
    const copyOf = (text: string) => Buffer.from(text, 'latin1').toString('latin1');
    this.#literals = starts.map((start, index) => copyOf(source.slice(start, holes[index]?.start)));
    this.#kinds = holes.map(({ kind }) => kind);
    this.#redaction = redaction;
    if (shown === source) return;
    const start = commonStart(source, shown);
    const literal = starts.findLastIndex((one) => one <= start);
    this.#cut = { literal, start: start - (starts[literal] ?? 0), length: source.length - shown.length };
  }

  /**
   * The form of an event that was read, whose only text is `text`. `shown` is what the caller gets of it: all, or all but one stretch.
   * Undefined where another event cannot be told by it.
   */
  static of(
    event: Buffer,
    text: string,
    shown: Buffer,
    redaction: Redaction | undefined,
  ): TextForm | undefined {
    // A credential with a quote could lie across the text's border.
    if (redaction?.secret.includes('"') || event.length > MAX_FORM_BYTES) return undefined;
    const source = event.toString('latin1');
    const spelled = Buffer.from(JSON.stringify(text)).toString('latin1');
    const start = source.indexOf(spelled);
    if (start === -1 || source.includes(spelled, start + 1)) return undefined;
    const holes: Hole[] = [{ start: start + 1, end: start + spelled.length - 1, kind: 'text' }];
    const padding = holeAfter(source, '"obfuscation":"', (whole, at) => whole.indexOf('"', at));
    if (padding) holes.push({ ...padding, kind: 'padding' });
    const number = holeAfter(source, '"sequence_number":', digitsEnd);
    if (number) holes.push({ ...number, kind: 'number' });
    holes.sort((one, other) => one.start - other.start);
    const form = new TextForm(source, holes, shown.toString('latin1'), redaction);
    return form.#isOf(event, text, shown) ? form : undefined;
  }

  /** The text of an event of this form, never empty; undefined for any other event. */
  textOf(event: Buffer): string | undefined {
    const source = event.toString('latin1');
    let at = 0;
    let text = '';
    const last = this.#kinds.length;
    for (let index = 0; ; index += 1) {
      const literal = this.#literals[index] as string;
      const literalEnd = at + literal.length;
      // A slice is compared twice as fast as by startsWith.
      if (source.slice(at, literalEnd) !== literal) return undefined;
      if (index === this.#cut?.literal) this.#cutAt = at + this.#cut.start;
      at = literalEnd;
      if (index === last) break;
      const kind = this.#kinds[index];
      const end = kind === 'number' ? digitsEnd(source, at) : this.#stringEnd(source, at);
      const inside = end === -1 ? undefined : kind === 'number' ? '' : this.#textIn(event, source, at, end);
      if (inside === undefined) return undefined;
      if (kind === 'text') text = inside;
      at = end;
    }
    return at === source.length && text !== '' ? text : undefined;
  }

  /** Adds what the caller gets of the event that was read last. */
  addShown(event: Buffer, passed: Buffer[]): void {
    if (this.#cut)
      passed.push(event.subarray(0, this.#cutAt), event.subarray(this.#cutAt + this.#cut.length));
    else passed.push(event);
  }

  #isOf(event: Buffer, text: string, shown: Buffer): boolean {
    // Without a backslash outside the text, each quote there begins or ends a string.
    if (this.#literals.some((literal) => literal.includes('\\'))) return false;
    const cut = this.#cut;
    if (cut && cut.start + cut.length > (this.#literals[cut.literal]?.length ?? 0)) return false;
    const passed: Buffer[] = [];
    const read = this.textOf(event);
    this.addShown(event, passed);
    return read === text && Buffer.concat(passed).equals(shown);
  }

  /** The end of the string whose inside begins at `at`; -1 where there is none. Notes what it is made of. */
  #stringEnd(source: string, at: number): number {
    this.#isAscii = true;
    this.#isPlain = true;
    for (let end = at; end < source.length; end += 1) {
      const code = source.charCodeAt(end);
      if (code === QUOTE) return end;
      if (code === BACKSLASH) {
        this.#isPlain = false;
        end += 1;
      } else if (code < CONTROLS_END) {
        return -1;
      } else if (code >= ASCII_END) {
        this.#isAscii = false;
      }
    }
    return -1;
  }

  /** The text that the inside of the string stands for; undefined where it is none, or where the credential may stand in it. */
  #textIn(event: Buffer, source: string, start: number, end: number): string | undefined {
    const spelled = this.#isAscii ? source.slice(start, end) : event.toString('utf8', start, end);
    const mayHoldSecret = this.#redaction && spelled.length >= MIN_SECRET_LENGTH;
    if (mayHoldSecret && this.#redaction?.text(spelled) !== spelled) return undefined;
    if (this.#isPlain) return spelled;
    const value = parseJson(`"${spelled}"`);
    return typeof value === 'string' ? value : undefined;
  }
}

/** The hole that begins after this, where it stands in the source once. */
function holeAfter(
  source: string,
  name: string,
  endOf: (source: string, start: number) => number,
): Pick<Hole, 'start' | 'end'> | undefined {
  const found = source.indexOf(name);
  if (found === -1 || source.includes(name, found + 1)) return undefined;
  const start = found + name.length;
  const end = endOf(source, start);
  return end === -1 ? undefined : { start, end };
}

/** The end of the digits at `at`; -1 where they are no number in JSON, or a long one. */
function digitsEnd(source: string, at: number): number {
  let end = at;
  while (end < source.length && isDigit(source.charCodeAt(end))) end += 1;
  const hasLeadingZero = source[at] === '0' && end > at + 1;
  return end === at || end > at + MAX_DIGITS || hasLeadingZero ? -1 : end;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function commonStart(source: string, shown: string): number {
  let at = 0;
  while (at < shown.length && source[at] === shown[at]) at += 1;
  return at;
}
