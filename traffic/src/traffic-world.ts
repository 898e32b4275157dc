/** Who sends requests, and to what: the cast of made-up traffic. */

/**
 * A weight is any positive number; only its proportion to its neighbours' counts. An organisation's weight is its
 * share of all requests, and those of its keys divide that share among them.
 */
export interface TrafficWorld {
  readonly organizations: readonly TrafficOrganization[];
  readonly models: readonly TrafficModel[];
}

export interface TrafficOrganization {
  readonly id: string;
  readonly weight: number;
  readonly keys: readonly TrafficKey[];
}

export interface TrafficKey {
  readonly id: string;
  readonly projectId: string;
  readonly weight: number;
  /** What its bursts run into. */
  readonly rateLimitRpm: number;
  /** The ids of the only models that it may use; all of them unless given. It asks for others at times, in vain. */
  readonly models?: readonly string[];
  /** It sends nothing before. Epoch microseconds, as below. */
  readonly usedFromMicros?: bigint;
  /** From here on it is refused; who has it still tries at times. */
  readonly expiresAtMicros?: bigint;
  /** It sends nothing from here on. */
  readonly usedUntilMicros?: bigint;
}

/** A route, with the prices that the catalogue has for it. */
export interface TrafficModel {
  /** The route's id, by which callers name it. */
  readonly id: string;
  readonly upstreamModel: string;
  /** How much it is liked; each organisation has its own few favourites besides. */
  readonly weight: number;
  readonly inputMicroPkrPerMillion: bigint;
  readonly outputMicroPkrPerMillion: bigint;
  readonly cacheWriteMicroPkrPerMillion: bigint;
  readonly cacheReadMicroPkrPerMillion: bigint;
  /** The platform's share of the price where an organisation uses a provider key of its own, in millionths. */
  readonly byokFeeMillionths: bigint;
  /** The share of the organisations that have a provider key of their own for it, from 0 to 1. */
  readonly byokShare: number;
  readonly timeoutMs: number;
  /** The median time to the first token, and the tokens a second after it. By the price unless given. */
  readonly firstTokenMs?: number;
  readonly tokensPerSecond?: number;
}

/** `n` weights that fall as the first n ranks of Zipf's law do: 1, 1/2^s, 1/3^s, ... */
export function zipf(n: number, s = 1): number[] {
  return Array.from({ length: n }, (_, rank) => 1 / (rank + 1) ** s);
}
