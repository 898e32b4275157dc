import type { GetTrendReply } from '@gatehouse/sdk';
import type { Series } from '../../charts/series.ts';

/** Two layers: the requests without an error, and those with one above. */
export function histogramSeries({ requests, errors, per_bucket }: GetTrendReply['total']): Series[] {
  const all = per_bucket.requests ?? [];
  const failed = per_bucket.errors ?? [];
  return [
    {
      id: 'fine',
      label: 'Without an error',
      colour: 1,
      values: all.map((value, index) => value - (failed[index] ?? 0)),
      total: requests === undefined ? undefined : requests - (errors ?? 0),
      canFilter: false,
    },
    { id: 'errors', label: 'Errors', colour: 4, values: failed, total: errors, canFilter: false },
  ];
}
