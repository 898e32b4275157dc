import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Certificate } from '@gatehouse/http';
import { ConfigError } from '../config/config-error.ts';

/** The paths of TLS_CERT and TLS_KEY. */
export interface CertificateFiles {
  readonly tlsCert: string;
  readonly tlsKey: string;
}

/** A certificate that a listener can use, and until when. */
export interface LoadedCertificate extends Certificate {
  readonly validTo: Date;
}

// A chain of ten certificates has 20 KiB.
const MAX_BYTES = 1024 * 1024;

/** Both files of the settings; undefined without TLS. */
export function certificateFiles(config: {
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
}): CertificateFiles | undefined {
  const { tlsCert, tlsKey } = config;
  return tlsCert !== undefined && tlsKey !== undefined ? { tlsCert, tlsKey } : undefined;
}

/** Reads both files. Throws ConfigError, which says what is wrong with which. */
export async function readCertificate(files: CertificateFiles): Promise<LoadedCertificate> {
  const [cert, key] = await Promise.all([
    readSmallFile('TLS_CERT', files.tlsCert),
    readSmallFile('TLS_KEY', files.tlsKey),
  ]);
  const leaf = parsed(cert, files);
  const privateKey = privateKeyOf(key, files);
  if (!leaf.checkPrivateKey(privateKey)) {
    throw new ConfigError(
      `TLS_CERT is ${quoted(files.tlsCert)} and TLS_KEY is ${quoted(files.tlsKey)}, which do not belong together; the first certificate in the file must be the one of that key`,
    );
  }
  try {
    // The rest of the chain.
    createSecureContext({ cert, key });
  } catch (error) {
    throw new ConfigError(
      `TLS_CERT is ${quoted(files.tlsCert)}, which cannot be used: ${(error as Error).message}`,
    );
  }
  return { cert, key, validTo: new Date(leaf.validTo) };
}

async function readSmallFile(setting: string, path: string): Promise<Buffer> {
  try {
    const found = await stat(path);
    // Opening a pipe would wait for its writer.
    if (!found.isFile()) throw new Error('it is not a file');
    if (found.size > MAX_BYTES) throw new Error('it has more than 1 MiB');
    return await readFile(path);
  } catch (error) {
    throw new ConfigError(
      `${setting} is ${quoted(path)}, which cannot be read: ${(error as Error).message}; set it to a PEM file that this user can read`,
    );
  }
}

function parsed(cert: Buffer, { tlsCert }: CertificateFiles): X509Certificate {
  try {
    return new X509Certificate(cert);
  } catch {
    throw new ConfigError(
      `TLS_CERT is ${quoted(tlsCert)}, which does not begin with a certificate; expected PEM, -----BEGIN CERTIFICATE-----`,
    );
  }
}

function privateKeyOf(key: Buffer, { tlsKey }: CertificateFiles): KeyObject {
  try {
    return createPrivateKey(key);
  } catch {
    throw new ConfigError(
      /ENCRYPTED/.test(key.toString('latin1'))
        ? `TLS_KEY is ${quoted(tlsKey)}, which needs a passphrase; decrypt it with openssl pkey and protect the file by its mode`
        : `TLS_KEY is ${quoted(tlsKey)}, which is not a private key; expected PEM, -----BEGIN PRIVATE KEY-----`,
    );
  }
}

function quoted(path: string): string {
  return JSON.stringify(path);
}
