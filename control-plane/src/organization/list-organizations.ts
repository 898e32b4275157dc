import type { Queryable } from '@gatehouse/store';
import * as queries from './queries.ts';

/** An organisation with its size and its money, in micro-PKR. */
export interface OrganizationSummary {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  /** Deactivated ones too. */
  readonly members: number;
  readonly depositedMicroPkr: bigint;
  readonly spentMicroPkr: bigint;
  /** What requests in flight may cost at most. */
  readonly heldMicroPkr: bigint;
}

/** Whether anybody has registered yet. */
export async function hasOrganizations(database: Queryable): Promise<boolean> {
  return (await database.one(queries.hasOrganizations))?.has ?? false;
}

/** Every organisation, oldest first. */
export async function listOrganizations(database: Queryable): Promise<OrganizationSummary[]> {
  return (await database.many(queries.listOrganizations)).map(organizationSummary);
}

export function organizationSummary(row: queries.SummaryRow): OrganizationSummary {
  return {
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    members: Number(row.members),
    depositedMicroPkr: row.deposited_micro_pkr,
    spentMicroPkr: row.spent_micro_pkr,
    heldMicroPkr: row.held_micro_pkr,
  };
}
