import { type OrganizationId, pkrInWords } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import type { RecorderFor } from '../http/recorder.ts';
import * as queries from './queries.ts';
import type { OrganizationName } from './rules.ts';

const FIRST_PROJECT = 'Default';

/**
 * Creates the organisation with its first project and its balance, or returns undefined when the name is taken. Waits
 * for a creation of the same name that is under way, so that there are never two.
 */
export async function createOrganization(
  tx: Transaction,
  name: OrganizationName,
): Promise<OrganizationId | undefined> {
  const organization = await tx.one(queries.insertOrganization, { name: name.name, nameKey: name.key });
  if (!organization) return undefined;
  const organizationId = organization.id;
  await tx.run(queries.insertProject, { organizationId, name: FIRST_PROJECT });
  await tx.run(queries.insertBalance, { organizationId });
  return organizationId;
}

export interface Deposit {
  readonly organizationId: OrganizationId;
  /** Negative for a withdrawal. */
  readonly amountMicroPkr: bigint;
  readonly note: string | null;
}

/** Credit cannot be added or taken back. The message says why, to an operator. */
export class DepositError extends Error {
  override readonly name = 'DepositError';
}

/**
 * Adds credit to the organisation and records it, without an actor because the platform acts. Returns the sum of its
 * deposits. A negative amount takes credit back; `withdraw` checks first that the credit is not needed.
 * @throws DepositError when the sum would exceed a bigint
 */
export async function deposit(
  tx: Transaction,
  { organizationId, amountMicroPkr, note }: Deposit,
  recorderFor: RecorderFor<'budget.deposited'>,
): Promise<bigint> {
  const balance = await tx.one(queries.insertDeposit, { organizationId, amountMicroPkr, note });
  if (!balance) {
    throw new DepositError(
      `the deposits of one organisation may add up to ${pkrInWords(2n ** 63n - 1n)} at most`,
    );
  }
  const record = recorderFor({ organizationId, actorUserId: null });
  await record(tx, 'budget.deposited', pkrInWords(amountMicroPkr));
  return balance.depositedMicroPkr;
}
