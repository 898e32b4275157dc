import type { Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';

/** How long the activity log is kept where an organisation has no time of its own, in days. */
export const DEFAULT_RETENTION_DAYS = 365;

/** The longest time that an organisation can have of its own, in days. The schema holds the same. */
export const MAX_RETENTION_DAYS = 36_500;

/**
 * Sets how many days the organisation's activity log is kept; null goes back to the time for all. False when there is
 * no such organisation. The service's own login may not do this.
 */
export async function setRetention(
  database: Queryable,
  organizationId: string,
  days: number | null,
): Promise<boolean> {
  return (await database.run(queries.updateRetention, [organizationId, days])) === 1;
}
