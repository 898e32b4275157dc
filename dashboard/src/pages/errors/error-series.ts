import type { GetTrendReply } from '@gatehouse/sdk';
import type { Series } from '../../charts/series.ts';
import { groupLabel } from '../../format/group-label.ts';
import { plural } from '../../format/number.ts';

/** Seven groups and the others are as many as a chart can tell apart. */
const MAX_GROUPS = 7;

/** A layer for each of the largest groups, and one for all others. The reply counts errors only. */
export function errorSeries({ group_by, buckets, groups, other }: GetTrendReply): Series[] {
  const layers = groups.slice(0, MAX_GROUPS).map(
    (each): Series => ({
      id: each.group ?? '',
      label: groupLabel(group_by, each),
      values: each.per_bucket.requests ?? [],
      total: each.requests,
      canFilter: each.group !== null,
    }),
  );
  const smaller = groups.slice(MAX_GROUPS);
  const rest = other === null ? smaller : [...smaller, other];
  if (rest.length === 0) return layers;
  return [
    ...layers,
    {
      id: ' other',
      label: plural(smaller.length + (other?.groups ?? 0), 'other'),
      values: buckets.map((_, nth) => sum(rest.map(({ per_bucket }) => per_bucket.requests?.[nth]))),
      total: sum(rest.map(({ requests }) => requests)),
      colour: 'other',
      canFilter: false,
    },
  ];
}

function sum(counts: readonly (number | undefined)[]): number {
  return counts.reduce<number>((total, each) => total + (each ?? 0), 0);
}
