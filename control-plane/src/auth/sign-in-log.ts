import type { Logger } from 'pino';

/** A sign-in that was refused, for whoever watches over the service. */
export interface FailedSignIn {
  readonly requestId: string;
  readonly sourceIp: string;
  /** What the caller is not told. */
  readonly reason: string;
  /** SHA-256 of the address, where there is one. Only the beginning is logged: enough to see that two lines are about
   *  the same. */
  readonly emailHash: Buffer | undefined;
}

/**
 * One line for each. The activity log is the organisation's and has none of these: whoever fails to sign in has
 * proven to belong to no organisation. Guarded by sign-in-log.http.test.ts.
 */
export function logFailedSignIn(
  log: Logger,
  operation: 'login' | 'google',
  { requestId, sourceIp, reason, emailHash }: FailedSignIn,
): void {
  log.warn(
    {
      request_id: requestId,
      operation,
      reason,
      source_ip: sourceIp,
      email_hash: emailHash?.toString('hex').slice(0, 16),
    },
    'sign-in refused',
  );
}
