// A provider may repeat the credential that it was given: in an error, in an answer, in a stream. Callers do not get to
// see it, nor does anything that is kept.

export const REDACTED = '[redacted]';
// Shorter than any provider's key; as a word of the answer it would be taken out wherever it stands.
export const MIN_SECRET_LENGTH = 8;

/** The redaction that removes a secret from text; undefined where there is nothing to take out. */
export function redactionOf(secret: string | undefined): Redaction | undefined {
  return secret === undefined || secret.length < MIN_SECRET_LENGTH ? undefined : new Redaction(secret);
}

export class Redaction {
  readonly secret: string;
  /** As it is, and as an address spells it. */
  readonly #plain: readonly string[];
  /** Any spelling in a JSON string. Made when the first text with an escape comes: most need none. */
  #inJson: RegExp | undefined;
  readonly #isEscapedByRule: boolean;

  constructor(secret: string) {
    this.secret = secret;
    this.#plain = [...new Set([secret, encodeURIComponent(secret)])];
    this.#isEscapedByRule = /["\\/]/.test(secret);
  }

  /** The text without the secret; the same string when it is not in there. */
  text(text: string): string {
    let redacted = text;
    for (const spelling of this.#plain) {
      if (redacted.includes(spelling)) redacted = redacted.replaceAll(spelling, REDACTED);
    }
    if (!this.#mayBeEscapedIn(redacted)) return redacted;
    this.#inJson ??= inJson(this.secret);
    return redacted.replace(this.#inJson, REDACTED);
  }

  /** The same for bytes of UTF-8: all but the secret stay as they came, be they text or not. */
  bytes(bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
    if (!this.#plain.some((spelling) => bytes.includes(spelling)) && !this.#mayBeEscapedIn(bytes))
      return bytes;
    // A secret is sent in a header, so it is ASCII, and one character of this text is one byte.
    const text = bytes.toString('latin1');
    const redacted = this.text(text);
    return redacted === text ? bytes : Buffer.from(redacted, 'latin1');
  }

  #mayBeEscapedIn(json: string | Buffer): boolean {
    return json.includes('\\u00') || (this.#isEscapedByRule && json.includes('\\'));
  }
}

/** Each character as itself or by its code; a quote, a backslash and a slash also behind a backslash. */
function inJson(secret: string): RegExp {
  const characters = Array.from(secret, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(2, '0');
    const anyCase = code.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
    const itself = `\\x${code}`;
    const behindBackslash = '"\\/'.includes(character) ? `|\\\\${itself}` : '';
    return `(?:${itself}|\\\\u00${anyCase}${behindBackslash})`;
  });
  return new RegExp(characters.join(''), 'g');
}
