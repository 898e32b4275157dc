import { type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { type Certificate, privateKeyIn, readPemFile } from '@gatehouse/http';
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
  const cert = readFileOf('TLS_CERT', files.tlsCert);
  const key = readFileOf('TLS_KEY', files.tlsKey);
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

function readFileOf(setting: string, path: string): Buffer {
  try {
    return readPemFile(path);
  } catch (error) {
    throw new ConfigError(
      `${setting} is ${quoted(path)}, ${(error as Error).message}; set it to a PEM file that this user can read`,
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
    return privateKeyIn(key);
  } catch (error) {
    throw new ConfigError(`TLS_KEY is ${quoted(tlsKey)}, ${(error as Error).message}`);
  }
}

function quoted(path: string): string {
  return JSON.stringify(path);
}
