import { type OrganizationId, pkrInWords } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import type { RecorderFor } from '../http/recorder.ts';
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
): Promise<OrganizationId | undefined> {
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
  readonly note: string | null;
}

/** Credit cannot be added, or not be taken back. The message says why, for an operator. */
export class DepositRefused extends Error {
  override readonly name = 'DepositRefused';
}

/**
 * Adds credit to the organisation and records it; returns all that has been deposited for it. The platform acts, so
 * the entry has no actor. Throws DepositRefused when the total would be more than can be counted.
 */
export async function deposit(
  tx: Transaction,
  { organizationId, amountMicroPkr, note }: Deposit,
  recorderFor: RecorderFor<'budget.deposited'>,
): Promise<bigint> {
  const balance = await tx.one(queries.insertDeposit, [organizationId, amountMicroPkr, note]);
  if (!balance) {
    throw new DepositRefused(
      `the deposits of one organisation may add up to ${pkrInWords(2n ** 63n - 1n)} at most`,
    );
  }
  const record = recorderFor({ organizationId, actorUserId: null });
  await record(tx, 'budget.deposited', pkrInWords(amountMicroPkr));
  return balance.deposited_micro_pkr;
}
