import type { ActivityAction, OrganizationId, UserId } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';

/** The organisation whose activity log gets the event, and the actor. */
export interface RecordSubject {
  readonly organizationId: OrganizationId;
  /** Null when the platform itself acts. */
  readonly actorUserId: UserId | null;
}

/**
 * Writes an event to the activity log. It takes a transaction, so that the event and the change commit together or not
 * at all. Call it last: until the commit, other events of the organisation wait.
 */
export type Recorder<Event extends ActivityAction> = (
  tx: Transaction,
  action: Event,
  target: string,
) => Promise<void>;

export type RecorderFor<Event extends ActivityAction> = (subject: RecordSubject) => Recorder<Event>;
