import { type Clock, systemClock } from '@gatehouse/concurrency';
import type { Certificate } from '@gatehouse/http';
import type { Logger } from 'pino';
import { type CertificateFiles, type LoadedCertificate, readCertificate } from './tls-files.ts';

/*
 * A renewed certificate is used without a restart. The files are read every ten seconds: that also finds what file events
 * miss, the replaced symbolic links of certbot and of Kubernetes, and needs no signal to each process. A renewal writes two
 * files, so a pair that cannot be used is an error only if it is the same at the next look.
 */
export interface CertificateRenewal extends Disposable {
  /** Looks now. */
  check(): Promise<void>;
}

export interface CertificateRenewalOptions {
  readonly files: CertificateFiles;
  /** The certificate that the listener has. */
  readonly current: LoadedCertificate;
  readonly use: (certificate: Certificate) => void;
  readonly log: Logger;
  readonly clock?: Pick<Clock, 'epochMs' | 'after'>;
}

const INTERVAL_MS = 10_000;
const DAY_MS = 86_400_000;
// Certificates are renewed 30 days before their end, as a rule.
const WARNING_MS = 14 * DAY_MS;

export function renewCertificate(options: CertificateRenewalOptions): CertificateRenewal {
  const { files, use, log, clock = systemClock } = options;
  let { current } = options;
  let lastFailure: string | undefined;
  let isReported = false;
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  let cancel = (): void => undefined;
  let isClosed = false;

  const warnBeforeEnd = (): void => {
    const nowMs = clock.epochMs();
    if (current.validTo.getTime() - nowMs > WARNING_MS || nowMs - warnedAtMs < DAY_MS) return;
    warnedAtMs = nowMs;
    const not_after = current.validTo.toISOString();
    log.warn({ event: 'tls.certificate_expires', not_after }, 'the TLS certificate must be renewed');
  };

  const onFailure = (message: string): void => {
    if (message === lastFailure && !isReported) {
      isReported = true;
      log.error(
        { event: 'tls.certificate_rejected', detail: message },
        'the changed TLS files cannot be used; the certificate before stays in use',
      );
    }
    if (message !== lastFailure) isReported = false;
    lastFailure = message;
  };

  const check = async (): Promise<void> => {
    try {
      const found = await readCertificate(files);
      lastFailure = undefined;
      if (!isClosed && !isSame(found, current)) {
        use(found);
        current = found;
        const not_after = found.validTo.toISOString();
        log.info({ event: 'tls.certificate_renewed', not_after }, 'new TLS certificate in use');
      }
    } catch (error) {
      onFailure((error as Error).message);
    }
    warnBeforeEnd();
  };

  const schedule = (): void => {
    cancel = clock.after(INTERVAL_MS, () => void check().finally(() => isClosed || schedule()));
  };
  warnBeforeEnd();
  schedule();

  return {
    check,
    [Symbol.dispose]() {
      isClosed = true;
      cancel();
    },
  };
}

function isSame(one: Certificate, other: Certificate): boolean {
  return one.cert.equals(other.cert) && one.key.equals(other.key);
}
