import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

// Files of certificates and keys. The messages follow the name of a file: `TLS_KEY is "/etc/key.pem", which …`.

// A bundle of all public certificates has 220 KiB.
const MAX_BYTES = 1024 * 1024;

/** The content of a file. Throws an Error whose message begins with `which cannot be read`. */
export function readPemFile(path: string): Buffer {
  try {
    const found = statSync(path);
    // Opening a pipe would wait for its writer.
    if (!found.isFile()) throw new Error('it is not a file');
    if (found.size > MAX_BYTES) throw new Error('it has more than 1 MiB');
    return readFileSync(path);
  } catch (error) {
    throw new Error(`which cannot be read: ${(error as Error).message}`);
  }
}

/** The private key in a file. Throws an Error that says why there is none. */
export function privateKeyIn(pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error(
      /ENCRYPTED/.test(pem.toString('latin1'))
        ? 'which needs a passphrase; decrypt it with openssl pkey and protect the file by its mode'
        : 'which is not a private key; expected PEM, -----BEGIN PRIVATE KEY-----',
    );
  }
}
