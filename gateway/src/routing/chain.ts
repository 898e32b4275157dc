import type { Breakers, Use, UsedUpstream } from './breakers.ts';
import type { PricedCandidate } from './candidate.ts';
import { type Failure, isRejection } from './retry.ts';

/** A candidate whose turn it is. */
export interface Turn {
  readonly candidate: PricedCandidate;
  readonly use: Use;
}

// The provider could not be reached, or said nothing.
const SILENT: ReadonlySet<Failure['kind']> = new Set(['unreachable', 'disconnected', 'timed_out']);

/** The rest of what the attempts of a request may take together. */
export interface Left {
  readonly attempts: number;
  readonly microPkr: bigint;
}

/**
 * The candidates of one request that have not been tried, in the order in which they are. Those whose breaker is open are
 * passed over. That a provider fails is only likely, so it is tried for want of another; a provider that said when it may be
 * asked again is not. A request whose only candidate it is is always sent: the provider's own answer says more than ours.
 */
export class Chain {
  readonly #breakers: Breakers;
  readonly #isSole: boolean;
  #untried: readonly PricedCandidate[];

  /** `mayWait`: whether the request waits while none can be tried. */
  constructor(candidates: readonly PricedCandidate[], breakers: Breakers, mayWait: boolean) {
    this.#breakers = breakers;
    this.#untried = candidates;
    this.#isSole = candidates.length === 1 && !mayWait;
  }

  /** The next one that works, as far as is known. Undefined where there is none at this moment. */
  take(left: Left): Turn | undefined {
    const open = this.#affordable(left);
    const [sole] = open;
    if (this.#isSole && sole) return this.#turn(sole, this.#breakers.takeAnyway(sole.upstreamName));
    for (const candidate of open) {
      const use = this.#breakers.take(candidate.upstreamName);
      if (use) return this.#turn(candidate, use);
    }
    return undefined;
  }

  /** The one that probably works soonest. Undefined where all providers said that they must not be asked now. */
  takeForWantOfAnother(left: Left): Turn | undefined {
    let best: PricedCandidate | undefined;
    let bestAtMs = Number.POSITIVE_INFINITY;
    for (const candidate of this.#affordable(left)) {
      const opening = this.#breakers.openingOf(candidate.upstreamName);
      if (opening?.isStated) continue;
      const untilMs = opening?.untilMs ?? 0;
      if (best && untilMs >= bestAtMs) continue;
      best = candidate;
      bestAtMs = untilMs;
    }
    return best && this.#turn(best, this.#breakers.takeAnyway(best.upstreamName));
  }

  /** True if another attempt may follow, should the one that is on fail. */
  hasMore(left: Left): boolean {
    return this.#affordable(left).length > 0;
  }

  /** The upstreams that may become usable while the request waits. */
  names(left: Left): UsedUpstream[] {
    return this.#affordable(left).map(({ upstreamName }) => upstreamName);
  }

  /**
   * To be called for each failed attempt. A credential that was rejected is not used for another model either. A provider that
   * could not be reached, or said nothing, comes after the others.
   */
  onFailure({ upstreamName: failed }: PricedCandidate, failure: Failure): void {
    const isSameProvider = ({ upstreamName }: PricedCandidate) => upstreamName.provider === failed.provider;
    if (failure.kind === 'error_status' && isRejection(failure.status)) {
      this.#untried = this.#untried.filter(
        (candidate) => !isSameProvider(candidate) || candidate.upstreamName.credential !== failed.credential,
      );
    }
    if (!SILENT.has(failure.kind)) return;
    this.#untried = [
      ...this.#untried.filter((candidate) => !isSameProvider(candidate)),
      ...this.#untried.filter(isSameProvider),
    ];
  }

  #turn(candidate: PricedCandidate, use: Use): Turn {
    this.#untried = this.#untried.filter((one) => one !== candidate);
    return { candidate, use };
  }

  #affordable({ attempts, microPkr }: Left): readonly PricedCandidate[] {
    if (attempts <= 0) return [];
    return this.#untried.filter(({ costAt, leastOutput }) => costAt(leastOutput) <= microPkr);
  }
}
