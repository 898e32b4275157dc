import { GatewayError, type Need } from '../http/gateway-error.ts';
import type { Context } from '../pipeline/context.ts';
import type { UsedUpstream } from './breakers.ts';
import type { Choice } from './choose.ts';

/** One way to serve a request: a target, and what its provider is called with. */
export interface Candidate
  extends Choice,
    Pick<Context, 'target' | 'credential' | 'isByok' | 'apiKey' | 'upstream' | 'surface'> {
  readonly upstreamName: UsedUpstream;
}

/** With the call in the format of its surface. */
export type TranslatedCandidate = Candidate & Pick<Context, 'providerCall' | 'translation'>;

/** With what is left out of the call. */
export type PermittedCandidate = TranslatedCandidate & Pick<Context, 'droppedTools'>;

/** With what it can cost. */
export interface PricedCandidate extends PermittedCandidate {
  /** Output tokens per choice: what the request asks for, and below what it is not lowered. */
  readonly wantedOutput: number;
  readonly leastOutput: number;
  /** The part of the prompt that cannot be counted. */
  readonly uncounted: Need['uncounted'];
  costAt(outputCap: number): bigint;
  /** The largest output cap up to `wanted` at which it cannot cost more than the amount. */
  largestCap(amountMicroPkr: bigint, wanted: number): number;
}

/** The name of a credential where there is none, and where it is the organisation's own. */
export const NO_CREDENTIAL = '';
export const OWN_CREDENTIAL = 'own';

/** The candidates that can take the request, each with what is added. Throws the error of the first where none can. */
export function usable<C, Added extends object>(
  candidates: readonly C[],
  add: (candidate: C) => Added,
): (C & Added)[] {
  const [sole, ...others] = candidates;
  if (sole !== undefined && others.length === 0) return [{ ...sole, ...add(sole) }];
  const errors: GatewayError[] = [];
  const kept = candidates.flatMap((candidate) => {
    try {
      return [{ ...candidate, ...add(candidate) }];
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      errors.push(error);
      return [];
    }
  });
  if (kept.length > 0) return kept;
  throw errors[0] ?? new Error('a request without candidates');
}
