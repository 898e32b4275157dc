import type { OrganizationId } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import type { RecorderFor } from '../../http/recorder.ts';
import { lockOrganization } from '../lock-organization.ts';
import { lockBalance } from '../queries.ts';
import { withdraw } from '../withdraw.ts';
import * as queries from './queries.ts';

/** The result of deleting an organisation. */
export interface DeletedOrganization {
  readonly revokedKeys: number;
  readonly deletedAccounts: number;
  readonly withdrawnMicroPkr: bigint;
  /** Held by requests in flight, which settle by themselves. */
  readonly heldMicroPkr: bigint;
}

/**
 * Revokes the keys of the organisation, deletes its accounts, its vault and all that belongs to them, takes back the credit
 * that nothing holds, and frees its name, in one transaction. From the commit on, no node serves it. Its activity log and
 * its request log stay for their retention, and its books for ever. Undefined where it is deleted already.
 */
export function deleteOrganization(
  database: Database,
  { id: organizationId, name }: { readonly id: OrganizationId; readonly name: string },
  recorderFor: RecorderFor<'org.deleted' | 'budget.deposited'>,
): Promise<DeletedOrganization | undefined> {
  return database.transaction(async (tx) => {
    const only = { organizationId };
    await lockOrganization(tx, organizationId);
    if ((await tx.run(queries.markDeleted, only)) === 0) return undefined;
    const revokedKeys = await tx.run(queries.revokeAllKeys, only);
    await tx.run(queries.deletePreviousSecrets, only);
    await tx.run(queries.deleteVaultKeys, only);
    await tx.run(queries.deleteAlertChannels, only);
    await tx.run(queries.deleteSpendLimits, only);
    await tx.run(queries.deleteKeptItems, only);
    const deletedAccounts = await tx.run(queries.deleteAllAccounts, only);
    // After the keys: a withdrawal leaves what their limits add up to.
    const balance = await tx.one(lockBalance, only);
    if (!balance) throw new Error(`the organisation ${organizationId} has no balance`);
    const { depositedMicroPkr, spentMicroPkr, heldMicroPkr } = balance;
    const left = depositedMicroPkr - spentMicroPkr - heldMicroPkr;
    const withdrawnMicroPkr = left > 0n ? left : 0n;
    if (withdrawnMicroPkr > 0n) {
      const note = 'the organisation was deleted';
      await withdraw(tx, { organizationId, amountMicroPkr: withdrawnMicroPkr, note }, recorderFor);
    }
    await recorderFor({ organizationId, actorUserId: null })(tx, 'org.deleted', name);
    return { revokedKeys, deletedAccounts, withdrawnMicroPkr, heldMicroPkr };
  });
}
