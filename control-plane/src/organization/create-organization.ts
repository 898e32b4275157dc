import { pkrInWords } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { record } from '../activity/index.ts';
import * as queries from './queries.ts';
import type { OrganizationName } from './rules.ts';

const FIRST_PROJECT = 'Default';

/**
 * Creates the organisation with its first project and its balance, or returns undefined when another has the
 * name. Waits for a creation of the same name that is under way, so that there are never two.
 */
export async function createOrganization(
  tx: Transaction,
  name: OrganizationName,
): Promise<string | undefined> {
  const organization = await tx.one(queries.insertOrganization, [name.name, name.key]);
  if (!organization) return undefined;
  await tx.run(queries.insertProject, [organization.id, FIRST_PROJECT]);
  await tx.run(queries.insertBalance, [organization.id]);
  return organization.id;
}

export interface Deposit {
  readonly organizationId: string;
  /** Positive. */
  readonly amountMicroPkr: bigint;
  readonly note: string;
  readonly sourceIp: string;
}

/** Adds credit to the organisation and records it. The platform acts, so the entry has no actor. */
export async function deposit(
  tx: Transaction,
  { organizationId, amountMicroPkr, note, sourceIp }: Deposit,
): Promise<void> {
  await tx.run(queries.insertDeposit, [organizationId, amountMicroPkr, note]);
  await record(tx, {
    organizationId,
    actorUserId: null,
    action: 'budget.deposited',
    target: pkrInWords(amountMicroPkr),
    sourceIp,
  });
}
