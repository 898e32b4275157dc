import type { Logger } from 'pino';

/** A failed sign-in, for the operator of the service. */
export interface FailedSignIn {
  readonly requestId: string;
  readonly sourceIp: string;
  /** Not part of the caller's answer. */
  readonly reason: string;
  /** SHA-256 of the address, if there is one. Only its beginning is logged, enough to correlate lines. */
  readonly emailHash: Buffer | undefined;
}

/**
 * Logs one line for each failed sign-in. The activity log has no entry for it: it is the organisation's, and the caller has
 * not proven to belong to one. Guarded by sign-in-log.http.test.ts.
 */
export function logFailedSignIn(
  log: Logger,
  operation: 'login' | 'google' | 'oidc',
  { requestId, sourceIp, reason, emailHash }: FailedSignIn,
): void {
  log.warn(
    {
      event: 'auth.sign_in_failed',
      request_id: requestId,
      operation,
      reason,
      source_ip: sourceIp,
      email_hash: emailHash?.toString('hex').slice(0, 16),
    },
    'sign-in failed',
  );
}
