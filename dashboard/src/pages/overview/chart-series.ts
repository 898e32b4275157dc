import type { GetSpendReply, GetTrendReply } from '@gatehouse/sdk';
import type { Series } from '../../charts/series.ts';
import { groupLabel } from '../../format/group-label.ts';
import { plural } from '../../format/number.ts';
import { METRIC_VIEWS } from './metrics.ts';
import type { Metric } from './overview-choices.ts';

interface Part {
  readonly group: string | null;
  readonly name: string | null;
  readonly values: Series['values'];
  readonly total: number | null;
}

interface Rest extends Pick<Part, 'values' | 'total'> {
  readonly groups: number;
}

/** The series of the chart: one a group and one for all others, or the whole where nothing divides it. */
export function chartSeries(reply: GetTrendReply, metric: Metric): Series[] {
  const { of, perBucket, kind } = METRIC_VIEWS[metric];
  if (reply.group_by === null) return wholeSeries(reply, metric);
  const parts = reply.groups.map((group) => ({
    ...group,
    values: perBucket(group.per_bucket),
    total: of(group),
  }));
  const rest = reply.other && {
    groups: reply.other.groups,
    values: perBucket(reply.other.per_bucket),
    total: of(reply.other),
  };
  // Where a sum is divided, groups without any of it would only crowd the legend.
  return kind === 'stacked'
    ? series(reply.group_by, parts, rest).filter(({ total }) => total !== 0)
    : series(reply.group_by, parts, rest);
}

/** The same of the spend, whose groups are the most expensive ones and not those with the most requests. */
export function spendSeries({ group_by, groups, other }: GetSpendReply): Series[] {
  const parts = groups.map((group) => ({ ...group, values: group.costs_pkr, total: group.cost_pkr }));
  const rest = other && { groups: other.groups, values: other.costs_pkr, total: other.cost_pkr };
  return series(group_by, parts, rest).filter(({ total }) => total !== 0);
}

function series(by: string, parts: readonly Part[], rest: Rest | null): Series[] {
  const all = parts.map((part): Series => {
    const { group, values, total } = part;
    return {
      id: group ?? 'unattributed',
      label: groupLabel(by, part),
      values,
      total,
      canFilter: group !== null,
    };
  });
  if (rest === null) return all;
  const { groups, values, total } = rest;
  return [
    ...all,
    { id: 'other', label: plural(groups, 'other'), values, total, colour: 'other', canFilter: false },
  ];
}

/** Times are shown as both quantiles. */
function wholeSeries({ total }: GetTrendReply, metric: Metric): Series[] {
  const { label, perBucket } = METRIC_VIEWS[metric];
  const isLatency = metric === 'latency-p50' || metric === 'latency-p95';
  const quantiles = isLatency
    ? total.per_bucket.total_ms
    : metric === 'ttft'
      ? total.per_bucket.ttft_ms
      : undefined;
  if (quantiles === undefined)
    return [{ id: metric, label, values: perBucket(total.per_bucket), canFilter: false }];
  return [
    { id: 'p50', label: 'p50', values: quantiles.p50, colour: 1, canFilter: false },
    { id: 'p95', label: 'p95', values: quantiles.p95, colour: 5, isDashed: true, canFilter: false },
  ];
}
