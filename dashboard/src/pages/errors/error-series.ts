import type { GetTrendReply } from '@gatehouse/sdk';
import type { Series } from '../../charts/series.ts';
import { groupLabel } from '../../format/group-label.ts';
import { plural } from '../../format/number.ts';

/** A layer for each group, and one for all others. The reply counts errors only. */
export function errorSeries({ group_by, groups, other }: GetTrendReply): Series[] {
  const layers = groups.map(
    (each): Series => ({
      id: each.group ?? '',
      label: groupLabel(group_by, each),
      values: each.per_bucket.requests ?? [],
      total: each.requests,
      canFilter: each.group !== null,
    }),
  );
  if (other === null) return layers;
  return [
    ...layers,
    {
      id: ' other',
      label: plural(other.groups, 'other'),
      values: other.per_bucket.requests ?? [],
      total: other.requests,
      colour: 'other',
      canFilter: false,
    },
  ];
}
