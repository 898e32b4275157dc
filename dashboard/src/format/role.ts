import type { Member } from '@gatehouse/sdk';

export const ROLE_LABELS: Readonly<Record<Member['role'], string>> = {
  owner: 'Owner',
  admin: 'Admin',
  member: 'Member',
};
