/** The senders of generated requests, and their models. */

/**
 * A weight is any positive number; only the proportions within a list matter. An organisation's weight is its share of
 * all requests, and the weights of its keys divide that share.
 */
export interface TrafficProfile {
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
  /** Its bursts exceed this limit. */
  readonly rateLimitRpm: number;
  /** The ids of the models that it may use; all unless given. At times it requests others, which is rejected. */
  readonly models?: readonly string[];
  /** The time before which it sends nothing. Epoch microseconds, like the next two. */
  readonly usedFromMicros?: bigint;
  /** From then on it is rejected; at times it is still used. */
  readonly expiresAtMicros?: bigint;
  /** The time from which it sends nothing. */
  readonly usedUntilMicros?: bigint;
}

/** A route with its prices from the catalogue. */
export interface TrafficModel {
  /** The route's id, which is the model name of a request. */
  readonly id: string;
  readonly upstreamModel: string;
  /** Its popularity; each organisation also has preferences of its own. */
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
  /** The median time to the first token, and the tokens per second after it. Derived from the price unless given. */
  readonly firstTokenMs?: number;
  readonly tokensPerSecond?: number;
}

/** The first n weights of Zipf's law: 1, 1/2^s, 1/3^s, ... */
export function zipf(n: number, s = 1): number[] {
  return Array.from({ length: n }, (_, rank) => 1 / (rank + 1) ** s);
}
