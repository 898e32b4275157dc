import type { OrganizationId } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import { type OrganizationSummary, organizationSummary } from './list-organizations.ts';
import * as queries from './queries.ts';

export interface OrganizationOverview extends OrganizationSummary {
  /** The keys that are not revoked. */
  readonly keys: number;
  /** Null: the default applies. */
  readonly retentionDays: number | null;
  readonly projects: readonly queries.Project[];
  /** How many deposits there are; `deposits` has the newest of them. */
  readonly depositCount: number;
  readonly deposits: readonly queries.DepositRow[];
}

const NEWEST_DEPOSITS = 20;

/** An operator's view of one organisation; undefined when the id is unknown. */
export async function showOrganization(
  database: Queryable,
  organizationId: OrganizationId,
): Promise<OrganizationOverview | undefined> {
  const row = await database.one(queries.findOverview, { organizationId });
  if (!row) return undefined;
  return {
    ...organizationSummary(row),
    keys: Number(row.keys),
    retentionDays: row.activityRetentionDays,
    projects: await database.many(queries.listProjects, { organizationId }),
    depositCount: Number(row.deposits),
    deposits: await database.many(queries.listDeposits, { organizationId, limit: NEWEST_DEPOSITS }),
  };
}
