import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

// AES-256-GCM with a random nonce. A sealed value is nonce, ciphertext, tag.

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed value was altered, or is not where it belongs. */
export class VaultTampered extends Error {
  override readonly name = 'VaultTampered';
}

/** Encrypts the plaintext and authenticates the binding with it. */
export function seal(key: Buffer, plaintext: Buffer, binding: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(binding);
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts. Throws VaultTampered for a wrong key, another binding, or a change of any bit. */
export function unseal(key: Buffer, sealed: Buffer, binding: Buffer, what: string): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new VaultTampered(`${what} is too short`);
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(binding);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  // The plaintext must not be used before `final` has verified the tag.
  const plaintext = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    throw new VaultTampered(`${what} does not open`);
  }
}

/** Encodes fields with a length prefix each, so that two different lists never give the same bytes. */
export function bindingOf(...fields: readonly string[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}
