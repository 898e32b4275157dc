import type { ActivityAction } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import * as queries from './queries.ts';

/** Something that happened to an organisation. */
export interface ActivityEntry {
  readonly organizationId: string;
  /** Null: the platform itself acted. */
  readonly actorUserId: string | null;
  readonly action: ActivityAction;
  readonly target: string;
  readonly sourceIp: string;
}

/**
 * Writes an entry of the activity log. It asks for a transaction so that entry and change commit together or
 * not at all. Call it last: from here to the commit, other entries of the organisation wait.
 */
export async function record(tx: Transaction, entry: ActivityEntry): Promise<void> {
  await tx.run(queries.appendEvent, [
    entry.organizationId,
    entry.actorUserId,
    entry.action,
    entry.target,
    entry.sourceIp,
  ]);
}
