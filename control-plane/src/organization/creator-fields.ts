import type { UserId } from '@gatehouse/contract';

/** The member who made something, as a joined row has it: both null for an operator, and for a member who is gone. */
export interface CreatorRow {
  readonly createdById: UserId | null;
  readonly createdByEmail: string | null;
}

/** The same as replies show it. */
export function creatorFields({ createdById: id, createdByEmail: email }: CreatorRow) {
  return id === null || email === null ? null : { id, email };
}
