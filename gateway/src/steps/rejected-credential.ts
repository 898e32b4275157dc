import type { Logger } from 'pino';
import { credentialRejected } from '../http/upstream-errors.ts';
import type { Context } from '../pipeline/context.ts';
import type { Outcome } from '../pipeline/outcome.ts';

const REJECTED: ReadonlySet<number> = new Set([401, 403]);

/**
 * A provider that rejects the platform's credential is the operator's to answer for: the caller's own key is good, and a
 * 401 would tell it otherwise. With the organisation's own key for the provider the answer passes as it came.
 */
export function checkRejection(
  outcome: Outcome,
  { route: { id, provider }, isByok }: Pick<Context, 'route' | 'isByok'>,
  requestId: string,
  log: Pick<Logger, 'error'>,
): Outcome {
  if (isByok || outcome.kind !== 'answered' || !REJECTED.has(outcome.status)) return outcome;
  const { status, upstreamError } = outcome;
  log.error(
    {
      event: 'provider.credential_rejected',
      request_id: requestId,
      route: id,
      provider: provider.name,
      status,
      upstream_error: upstreamError,
    },
    "provider rejected the platform's credential",
  );
  return { kind: 'refused', error: credentialRejected(provider.name, status) };
}
