import type { OrganizationId } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';

/** An organisation with its size and its money, in micro-PKR. */
export interface OrganizationSummary {
  readonly id: OrganizationId;
  readonly name: string;
  readonly createdAt: string;
  /** Including deactivated ones. */
  readonly members: number;
  readonly depositedMicroPkr: bigint;
  readonly spentMicroPkr: bigint;
  /** The most that requests in flight may cost. */
  readonly heldMicroPkr: bigint;
}

/** True if an account has been registered yet. */
export async function hasOrganizations(database: Queryable): Promise<boolean> {
  return (await database.one(queries.hasOrganizations))?.has ?? false;
}

/** Every organisation, oldest first. */
export async function listOrganizations(database: Queryable): Promise<OrganizationSummary[]> {
  return (await database.many(queries.listOrganizations)).map(organizationSummary);
}

export function organizationSummary(row: queries.SummaryRow): OrganizationSummary {
  const { id, name, createdAt, depositedMicroPkr, spentMicroPkr, heldMicroPkr } = row;
  return {
    id,
    name,
    createdAt,
    members: Number(row.members),
    depositedMicroPkr,
    spentMicroPkr,
    heldMicroPkr,
  };
}
