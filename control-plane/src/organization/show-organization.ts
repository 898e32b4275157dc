import type { Queryable } from '@gatehouse/store';
import { type OrganizationSummary, organizationSummary } from './list-organizations.ts';
import * as queries from './queries.ts';

export interface OrganizationOverview extends OrganizationSummary {
  /** Those that are not revoked. */
  readonly keys: number;
  /** Null: the one for all applies. */
  readonly retentionDays: number | null;
  readonly projects: readonly { readonly id: string; readonly name: string; readonly createdAt: string }[];
  /** How many there are; the newest of them follow. */
  readonly depositCount: number;
  readonly deposits: readonly {
    readonly id: string;
    readonly amountMicroPkr: bigint;
    readonly note: string | null;
    readonly createdAt: string;
  }[];
}

const NEWEST_DEPOSITS = 20;

/** All that an operator is shown of one organisation; undefined when there is none of this id. */
export async function showOrganization(
  database: Queryable,
  organizationId: string,
): Promise<OrganizationOverview | undefined> {
  const row = await database.one(queries.findOverview, [organizationId]);
  if (!row) return undefined;
  const projects = await database.many(queries.listProjects, [organizationId]);
  const deposits = await database.many(queries.listDeposits, [organizationId, NEWEST_DEPOSITS]);
  return {
    ...organizationSummary(row),
    keys: Number(row.keys),
    retentionDays: row.activity_retention_days,
    projects: projects.map(({ id, name, created_at }) => ({ id, name, createdAt: created_at })),
    depositCount: Number(row.deposits),
    deposits: deposits.map((one) => ({
      id: one.id,
      amountMicroPkr: one.amount_micro_pkr,
      note: one.note,
      createdAt: one.created_at,
    })),
  };
}
