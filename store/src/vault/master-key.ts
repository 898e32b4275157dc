import { hkdfSync, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

const KEY_BYTES = 32;
const ID_BYTES = 16;
const BASE64 = /^[A-Za-z0-9+/]{43}=$/;

/** What a master key's text must be, for people. */
export const MASTER_KEY_IN_WORDS = '32 bytes in base64, as `openssl rand -base64 32` prints them';

/**
 * The key that everything in the vault hangs on. It shows itself to nobody by accident: printed or put into JSON it is
 * `[secret]`.
 */
export class MasterKey {
  /** Names the key wherever something is under it, and gives nothing of it away. */
  readonly id: string;
  readonly #bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.id = this.derive('gatehouse vault master key id', '').subarray(0, ID_BYTES).toString('hex');
  }

  /** A new one. */
  static generate(): MasterKey {
    return new MasterKey(randomBytes(KEY_BYTES));
  }

  /** Reads one from its text; undefined when it is none. */
  static fromText(text: string): MasterKey | undefined {
    const trimmed = text.trim();
    if (!BASE64.test(trimmed)) return undefined;
    const bytes = Buffer.from(trimmed, 'base64');
    // The last digit has bits to spare: of the spellings of one key only the plain one counts.
    return bytes.toString('base64') === trimmed ? new MasterKey(bytes) : undefined;
  }

  /** The text to keep it as. The only way out. */
  reveal(): string {
    return this.#bytes.toString('base64');
  }

  /** A key of its own for each purpose and subject (HKDF with SHA-256). */
  derive(purpose: string, subject: string): Buffer {
    const info = Buffer.from(`${purpose}\0${subject}`);
    return Buffer.from(hkdfSync('sha256', this.#bytes, Buffer.alloc(0), info, KEY_BYTES));
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return `MasterKey ${this.id} [secret]`;
  }
}
