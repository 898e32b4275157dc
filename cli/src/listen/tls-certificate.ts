import type { Certificate } from '@gatehouse/http';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { certificateFiles, type LoadedCertificate, readCertificate } from './tls-files.ts';
import { type CertificateRenewal, renewCertificate } from './tls-renewal.ts';

/** The certificate of a listener, which is not open yet. */
export interface OpenCertificate {
  readonly current: LoadedCertificate;
  /** Gives the listener each later certificate of the files, until it is disposed. */
  renew(use: (certificate: Certificate) => void): CertificateRenewal;
}

/** The certificate of the settings; undefined without TLS. Throws ConfigError if it cannot be used. */
export async function openCertificate(
  config: Pick<Config, 'tlsCert' | 'tlsKey'>,
  log: Logger,
): Promise<OpenCertificate | undefined> {
  const files = certificateFiles(config);
  if (files === undefined) return undefined;
  const current = await readCertificate(files);
  return { current, renew: (use) => renewCertificate({ files, current, use, log }) };
}
