/** The label of a group of the analytics: its current name, or what is known of one that was deleted. */
export function groupLabel(
  by: string | null,
  { group, name }: { group: string | null; name: string | null },
): string {
  if (group === null) return 'unattributed';
  if (name !== null) return name;
  // Enough of the id to tell two of them apart.
  return by === 'key' || by === 'project'
    ? `${by === 'key' ? 'revoked key' : 'deleted project'} ${group.slice(0, 8)}`
    : group;
}
