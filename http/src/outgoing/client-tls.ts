import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { privateKeyIn, readPemFile } from '../pem.ts';

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

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Reads the files and checks that a connection can use them. @throws ClientTlsError */
export function readClientTls({ caFile, certFile, keyFile }: ClientTlsFiles): ClientTls {
  const tls: { ca?: Buffer; cert?: Buffer; key?: Buffer } = {};
  // Checking nothing would load every public certificate.
  if (caFile === undefined && certFile === undefined) return tls;
  if (caFile !== undefined) {
    tls.ca = about('caFile', caFile, () => readPemFile(caFile));
    certificates('caFile', caFile, tls.ca);
  }
  if (certFile !== undefined && keyFile !== undefined) {
    const key = about('keyFile', keyFile, () => readPemFile(keyFile));
    tls.cert = about('certFile', certFile, () => readPemFile(certFile));
    tls.key = key;
    const [leaf] = certificates('certFile', certFile, tls.cert);
    if (!leaf?.checkPrivateKey(about('keyFile', keyFile, () => privateKeyIn(key))))
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

/** Does the work, whose error becomes one of this file. */
function about<T>(file: keyof ClientTlsFiles, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new ClientTlsError(file, path, (error as Error).message);
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
