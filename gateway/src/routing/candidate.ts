import type { Surface } from '@gatehouse/contract';
import type { Credential, Target } from '../catalogue/route.ts';
import type { Need } from '../errors/credit-errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Call } from '../formats/call.ts';
import type { TranslationNotes } from '../formats/translation/index.ts';
import type { Upstream } from '../providers/upstream.ts';
import type { UsedUpstream } from './breakers.ts';
import type { Choice } from './choose.ts';

/** One way to serve a request: a target, and what its provider is called with. */
export interface Candidate extends Choice {
  readonly target: Target;
  /** The platform's credential that it goes out with; undefined for the organisation's own key, or when the provider takes none. */
  readonly credential: Credential | undefined;
  /** True if it goes out with the organisation's own key for the provider. */
  readonly isByok: boolean;
  /** The organisation's own key for the provider, else the platform's; undefined when the provider takes none. */
  readonly apiKey: string | undefined;
  readonly upstream: Upstream;
  /** The surface that the provider is asked for: the endpoint, or what it is translated to. */
  readonly surface: Surface;
  readonly upstreamName: UsedUpstream;
}

/** With the call in the format of its surface. */
export interface TranslatedCandidate extends Candidate {
  /** The call as it is sent on: the same, or in the format of the surface. */
  readonly providerCall: Call;
  /** The translation back, where the answer is translated. */
  readonly translation: Translation | undefined;
}

/** The losses on the way to the surface's format, and what the way back needs to know. */
export interface Translation {
  readonly dropped: readonly string[];
  readonly notes: TranslationNotes;
}

/** With what is left out of the call. */
export interface PermittedCandidate extends TranslatedCandidate {
  /** The types of hosted tools that are left out, because they are not part of the route's price. */
  readonly droppedTools: ReadonlySet<string>;
}

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
