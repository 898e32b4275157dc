import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

// AES-256-GCM with a random nonce: nonce, ciphertext, tag, in this order.

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Something sealed is not as it was sealed, or not where it was meant to be. */
export class VaultTampered extends Error {
  override readonly name = 'VaultTampered';
}

/** What is sealed, bound to what it is for. */
export function seal(key: Buffer, plaintext: Buffer, binding: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(binding);
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** The plaintext. Throws VaultTampered for a wrong key, another binding, or a change of any bit. */
export function unseal(key: Buffer, sealed: Buffer, binding: Buffer, what: string): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new VaultTampered(`${what} is cut short`);
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(binding);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  // Nothing of it is looked at before the tag was found right.
  const plaintext = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    throw new VaultTampered(`${what} does not open`);
  }
}

/** Fields as bytes, each with its length in front, so that no two lists of fields are the same bytes. */
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
