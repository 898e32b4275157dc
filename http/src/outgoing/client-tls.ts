import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** The files of TLS to a server; none of them for the usual certificates. */
export interface ClientTlsFiles {
  /** The certificates (PEM) that may have signed the server's, in place of the usual ones. */
  readonly caFile?: string | undefined;
  /** The client's own certificate (PEM, its chain behind it), and its key. Both, or neither. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** The content of the files, as node:tls takes it. */
export interface ClientTls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** A file that cannot be used. The message names it: `"/etc/ca.pem", which cannot be read: …`. */
export class ClientTlsError extends Error {
  override readonly name = 'ClientTlsError';
  readonly file: keyof ClientTlsFiles;

  constructor(file: keyof ClientTlsFiles, path: string, issue: string) {
    super(`${JSON.stringify(path)}, ${issue}`);
    this.file = file;
  }
}

// A bundle of all public certificates has 220 KiB.
const MAX_BYTES = 1024 * 1024;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Reads the files and checks that a connection can use them. @throws ClientTlsError */
export function readClientTls({ caFile, certFile, keyFile }: ClientTlsFiles): ClientTls {
  const tls: { ca?: Buffer; cert?: Buffer; key?: Buffer } = {};
  if (caFile !== undefined) {
    tls.ca = readSmallFile('caFile', caFile);
    certificates('caFile', caFile, tls.ca);
  }
  if (certFile !== undefined && keyFile !== undefined) {
    tls.cert = readSmallFile('certFile', certFile);
    tls.key = readSmallFile('keyFile', keyFile);
    const [leaf] = certificates('certFile', certFile, tls.cert);
    if (!leaf?.checkPrivateKey(privateKey(keyFile, tls.key)))
      throw new ClientTlsError(
        'certFile',
        certFile,
        `whose first certificate does not belong to the key in ${JSON.stringify(keyFile)}`,
      );
  }
  try {
    createSecureContext(tls);
    return tls;
  } catch (error) {
    const [file, path] = certFile === undefined ? ['caFile', caFile] : ['certFile', certFile];
    throw new ClientTlsError(
      file as keyof ClientTlsFiles,
      path ?? '',
      `which cannot be used: ${(error as Error).message}`,
    );
  }
}

function readSmallFile(file: keyof ClientTlsFiles, path: string): Buffer {
  try {
    const found = statSync(path);
    // Opening a pipe would wait for its writer.
    if (!found.isFile()) throw new Error('it is not a file');
    if (found.size > MAX_BYTES) throw new Error('it has more than 1 MiB');
    return readFileSync(path);
  } catch (error) {
    throw new ClientTlsError(file, path, `which cannot be read: ${(error as Error).message}`);
  }
}

function certificates(file: keyof ClientTlsFiles, path: string, bytes: Buffer): X509Certificate[] {
  const found = bytes.toString('latin1').match(CERTIFICATE) ?? [];
  if (found.length === 0)
    throw new ClientTlsError(
      file,
      path,
      'which holds no certificate; expected PEM, -----BEGIN CERTIFICATE-----',
    );
  return found.map((pem, index) => {
    try {
      return new X509Certificate(pem);
    } catch {
      throw new ClientTlsError(file, path, `whose certificate number ${index + 1} is damaged`);
    }
  });
}

function privateKey(path: string, bytes: Buffer): KeyObject {
  try {
    return createPrivateKey(bytes);
  } catch {
    throw new ClientTlsError(
      'keyFile',
      path,
      /ENCRYPTED/.test(bytes.toString('latin1'))
        ? 'which needs a passphrase; decrypt it with openssl pkey and protect the file by its mode'
        : 'which is not a private key; expected PEM, -----BEGIN PRIVATE KEY-----',
    );
  }
}
