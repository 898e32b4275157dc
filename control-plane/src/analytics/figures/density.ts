import type { Scope } from '../telemetry.ts';

/**
 * About how many requests an hour each organisation makes, as its last summary told. From it follows only which of two
 * ways to the same figures is the faster, so it may be old, or missing.
 */
export interface Density {
  /** Undefined: nothing is known. */
  perHour(organizationId: string): number | undefined;
  learn(scope: Scope, requests: number): void;
}

/** Organisations that are remembered. */
const MOST = 10_000;
const HOUR_MICROS = 3_600_000_000;
/** A shorter window says little of the others. */
const LEAST_HOURS = 12;

export function createDensity(): Density {
  const known = new Map<string, number>();
  return {
    perHour: (organizationId) => known.get(organizationId),
    learn({ organizationId, fromMicros, toMicros, projectId, keyId, model }, requests) {
      const hours = Number(toMicros - fromMicros) / HOUR_MICROS;
      const isOfAll = projectId === undefined && keyId === undefined && model === undefined;
      if (!isOfAll || hours < LEAST_HOURS) return;
      known.delete(organizationId);
      known.set(organizationId, requests / hours);
      const oldest = known.keys().next().value;
      if (known.size > MOST && oldest !== undefined) known.delete(oldest);
    },
  };
}
