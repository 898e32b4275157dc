import type { Attempt } from '@gatehouse/store';
import { isRejection } from '../routing/retry.ts';

/** The failure at a provider, in words of our own: a provider's words may repeat the prompt. */
export interface ProviderFailure {
  readonly provider: string;
  readonly reason: string;
}

/** The last failure that is the provider's or the operator's to fix, among the attempts of a request. */
export function providerFailure(attempts: readonly Attempt[]): ProviderFailure | undefined {
  const failed = attempts.findLast(isFailure);
  return failed && { provider: failed.provider, reason: reasonOf(failed) };
}

function isFailure({ ending, status, isByok }: Attempt): boolean {
  switch (ending) {
    case 'unreachable':
    case 'timed_out':
    case 'broken':
    case 'error_event':
      return true;
    case 'error_status':
      if (status === null || status >= 500 || status === 408) return true;
      // With an organisation's own key, its limit and its validity are the organisation's.
      return !isByok && (status === 429 || isRejection(status));
    default:
      return false;
  }
}

function reasonOf({ ending, status, error }: Attempt): string {
  switch (ending) {
    case 'error_status':
      return `answered ${status}`;
    case 'error_event':
      return 'sent an error in its stream';
    case 'timed_out':
      return 'did not answer in time';
    case 'unreachable':
      // Made from the code of the system's error.
      return `could not be reached: ${error ?? 'the request failed'}`;
    default:
      return 'sent an answer that broke';
  }
}
