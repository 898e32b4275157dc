import type { OrganizationId } from '@gatehouse/contract';
import type { Scope } from '../telemetry.ts';

/**
 * About how many requests an hour each organisation makes, from its last summary. It only decides which of two queries
 * for the same figures is likely to be faster, so it may be old or missing.
 */
export interface RequestRates {
  /** Undefined before the first summary of the organisation. */
  perHour(organizationId: OrganizationId): number | undefined;
  record(scope: Scope, requests: number): void;
}

const MAX_ORGANIZATIONS = 10_000;
const HOUR_MICROS = 3_600_000_000;
/** A shorter window says little about others. */
const MIN_HOURS = 12;

export function createRequestRates(): RequestRates {
  const rates = new Map<OrganizationId, number>();
  return {
    perHour: (organizationId) => rates.get(organizationId),
    record({ organizationId, fromMicros, toMicros, projectId, keyId, model }, requests) {
      const hours = Number(toMicros - fromMicros) / HOUR_MICROS;
      const isFiltered = (projectId ?? keyId ?? model) !== undefined;
      if (isFiltered || hours < MIN_HOURS) return;
      rates.delete(organizationId);
      rates.set(organizationId, requests / hours);
      const oldest = rates.keys().next().value;
      if (rates.size > MAX_ORGANIZATIONS && oldest !== undefined) rates.delete(oldest);
    },
  };
}
