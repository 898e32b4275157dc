import { createCipheriv, createDecipheriv, hash } from 'node:crypto';

// An item is sealed under a key that its id gives, and the id, which holds 128 random bits, is stored nowhere: what a copy of the database
// shows of an item is its size. Each key seals one text, so its nonce is always the same.

const CIPHER = 'aes-256-gcm';
const NONCE = Buffer.alloc(12);
const TAG_BYTES = 16;

/** The name under which an item is stored. */
export function hashOfId(id: string): Buffer {
  return hash('sha256', `name of ${id}`, 'buffer');
}

export function seal(id: string, text: string): Buffer {
  const cipher = createCipheriv(CIPHER, keyOf(id), NONCE);
  return Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** The text; undefined where it was not sealed under this id, or was changed. */
export function unseal(id: string, sealed: Buffer): string | undefined {
  const end = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, keyOf(id), NONCE, { authTagLength: TAG_BYTES });
  try {
    decipher.setAuthTag(sealed.subarray(end));
    return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}

function keyOf(id: string): Buffer {
  return hash('sha256', `key of ${id}`, 'buffer');
}
