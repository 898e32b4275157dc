import { groupLabel } from '../../format/group-label.ts';
import { StatusBadge } from '../../ui/badge.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import type { Grouping } from './errors-search.ts';

/** The label of errors without a group. */
export const UNKNOWN_WORDS: Readonly<Record<Grouping, string>> = {
  error_code: 'without a code',
  status: 'without a status',
  model: 'rejected before the model was read',
  key: 'without a known key',
};

/** A group as tables and headings name it. */
export function GroupName({ by, group, name }: { by: Grouping; group: string | null; name: string | null }) {
  if (group === null) return <Foreign text={null} none={UNKNOWN_WORDS[by]} />;
  if (by === 'status') return <StatusBadge status={Number(group)} />;
  return <Foreign text={groupLabel(by, { group, name })} isMono={by === 'error_code'} />;
}
