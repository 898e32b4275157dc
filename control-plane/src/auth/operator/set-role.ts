import type { Role } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import type { RecorderFor } from '../../http/recorder.ts';
import { accountOverview } from './account-overview.ts';
import type { AccountChange } from './deactivate-account.ts';
import { isLastOwner, lockMember } from './last-owner.ts';
import * as queries from './queries.ts';

/**
 * Gives the account with this address another role and records it. It holds from the next request on, in the sessions
 * that are open too. Returns undefined when there is none.
 */
export function setRole(
  database: Database,
  email: string,
  role: Role,
  recorderFor: RecorderFor<'member.role_changed'>,
): Promise<Omit<AccountChange, 'endedSessions'> | undefined> {
  return database.transaction(async (tx) => {
    const row = await lockMember(tx, email);
    if (!row) return undefined;
    const hasChanged = row.role !== role;
    const wasLastOwner = hasChanged && (await isLastOwner(tx, row));
    if (hasChanged) {
      await tx.run(queries.updateRole, { userId: row.userId, role });
      const record = recorderFor({ organizationId: row.organizationId, actorUserId: null });
      await record(tx, 'member.role_changed', `${row.email}: ${role}`);
    }
    return { account: { ...accountOverview(row), role }, hasChanged, wasLastOwner };
  });
}
