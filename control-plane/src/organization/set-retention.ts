import type { OrganizationId } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';

/** Retention of the activity log of an organisation that has none of its own, in days. */
export const DEFAULT_RETENTION_DAYS = 365;

/** The longest retention of an organisation, in days. The schema has the same limit. */
export const MAX_RETENTION_DAYS = 36_500;

/**
 * Sets how many days the organisation's activity log is kept; null restores the default. Returns false when there is no
 * such organisation. The service's own login may not do this.
 */
export async function setRetention(
  database: Queryable,
  organizationId: OrganizationId,
  days: number | null,
): Promise<boolean> {
  return (await database.run(queries.updateRetention, { organizationId, days })) === 1;
}
