import type { Logger } from 'pino';
import { credentialRejected } from '../http/upstream-errors.ts';
import type { Context } from '../pipeline/context.ts';
import type { Outcome } from '../pipeline/outcome.ts';

const REJECTED: ReadonlySet<number> = new Set([401, 403]);

/**
 * A rejected platform credential is the operator's to fix: the caller's key is valid, and a 401 would say otherwise. With
 * the organisation's own provider key the answer passes as it came.
 */
export function checkRejection(
  outcome: Outcome,
  { route: { id }, target: { provider }, isByok }: Pick<Context, 'route' | 'target' | 'isByok'>,
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
