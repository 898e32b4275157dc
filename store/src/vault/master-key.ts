import { hkdfSync, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';

const KEY_BYTES = 32;
const ID_BYTES = 16;
const BASE64 = /^[A-Za-z0-9+/]{43}=$/;

/** The format of a master key's text, for messages. */
export const MASTER_KEY_IN_WORDS = '32 bytes in base64, as `openssl rand -base64 32` prints them';

/** The key that all other keys of the vault derive from. Printed or serialised it is `[secret]`. */
export class MasterKey {
  /** Identifies the key in rows and logs. It is derived one-way, so it reveals nothing of the key. */
  readonly id: string;
  readonly #bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.id = this.derive('gatehouse vault master key id', '').subarray(0, ID_BYTES).toString('hex');
  }

  static generate(): MasterKey {
    return new MasterKey(randomBytes(KEY_BYTES));
  }

  /** Parses a key; undefined for invalid text. */
  static fromText(text: string): MasterKey | undefined {
    const trimmed = text.trim();
    if (!BASE64.test(trimmed)) return undefined;
    const bytes = Buffer.from(trimmed, 'base64');
    // The last base64 digit has unused bits, so one key has several spellings. Only the canonical one is valid.
    return bytes.toString('base64') === trimmed ? new MasterKey(bytes) : undefined;
  }

  /** The key as text, to be stored. Nothing else returns the key. */
  reveal(): string {
    return this.#bytes.toString('base64');
  }

  /** Derives a key for a purpose and a subject (HKDF with SHA-256). */
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
