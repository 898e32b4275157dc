import type { Logger } from 'pino';
import type { Context } from '../context/context.ts';
import type { Outcome } from '../context/outcome.ts';
import { credentialRejected } from '../errors/upstream-errors.ts';

const REJECTED: ReadonlySet<number> = new Set([401, 403]);

/**
 * A rejected platform credential is the operator's to fix: the caller's key is valid, and a 401 would say otherwise. With
 * the organisation's own provider key the answer passes as it came.
 */
export function checkRejection(
  outcome: Outcome,
  { route: { id }, sent: { candidate } }: Pick<Context, 'route' | 'sent'>,
  requestId: string,
  log: Pick<Logger, 'error'>,
): Outcome {
  const { isByok, target } = candidate;
  const { provider } = target;
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
