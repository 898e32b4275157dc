import type { analytics } from '@gatehouse/contract';
import {
  fragment,
  rawSql,
  type TelemetryQuery,
  type TelemetrySql,
  telemetryQuery,
  uint64,
} from '@gatehouse/store';
import { type KeysByLabel, labelOfKey, MAX_QUERY_BYTES } from '../breakdown/telemetry.ts';
import { rollupConditions } from '../figures/rollup/telemetry.ts';
import { rollupWindow } from '../figures/rules.ts';
import { conditions, READ_ROWS, type RequestFilter, type Scope } from '../telemetry.ts';
import { splitHours } from './rules.ts';

/*
 * Cost over time. Costs are integers, so the whole hours that lie in one bucket come from the hourly rollup and the rest
 * from the rows, and the result is that of all rows. The rest is both ends of the window, and where a day does not begin on the
 * hour (India, Nepal) the hours in which a day begins. The code decides where buckets begin; the engine only compares.
 */

/** The costs of one group, or of all that are not listed. 64-bit integers are texts. */
export type SpendGroup = readonly [
  /** From 1; the one after `limit` stands for the rest. */
  place: number,
  label: string | null,
  groups: string,
  /** The buckets that have cost, in seconds since the epoch, and their costs in micro-PKR. */
  starts: readonly string[],
  costs: readonly string[],
];

export interface SpendQuery {
  /** Beyond the owners and the model. */
  readonly filter: RequestFilter;
  readonly groups: SpendGroups;
  /** In seconds since the epoch, ascending. */
  readonly starts: readonly number[];
  readonly limit: number;
  /** About how many the organisation makes, if known. */
  readonly requestsPerHour: number | undefined;
}

/** The grouping of a query. Of members, the keys of each. */
export type SpendGroups =
  | { readonly by: Exclude<analytics.SpendGrouping, 'member'> }
  | { readonly by: 'member'; readonly keys: KeysByLabel };

/** The value of a row, or of the rollup, by which it is grouped. */
function groupOf(groups: SpendGroups): TelemetrySql {
  if (groups.by === 'member') return labelOfKey(groups.keys, "ifNull(toString(key_id), '')");
  return rawSql(groups.by === 'model' ? 'model' : `${groups.by}_id`);
}

/** One row, also without cost: an answer without a row is a lost one. Groups are ranked by cost, then by label. */
export function spend(scope: Scope, query: SpendQuery): TelemetryQuery<{ found: readonly SpendGroup[] }> {
  const { sql, settings } = costs(scope, query);
  const rest = uint64('rest', query.limit + 1);
  return telemetryQuery(
    fragment`SELECT arraySort(groupArray((position, label, members, starts, amounts))) AS found
             FROM (
               SELECT toUInt32(least(place, ${rest})) AS position,
                      if(position = ${rest}, NULL, any(name)) AS label,
                      toString(count()) AS members,
                      sumMap(nths, sums) AS points,
                      arrayMap(nth -> toString(nth), points.1) AS starts,
                      arrayMap(amount -> toString(amount), points.2) AS amounts
               FROM (
                 SELECT nullIf(toString(grp), '') AS name, nths, sums,
                        row_number() OVER (ORDER BY arraySum(sums) DESC, name ASC NULLS LAST) AS place
                 FROM (
                   SELECT grp, groupArray(nth) AS nths, groupArray(amount) AS sums
                   FROM (SELECT nth, grp, sum(part.amount) AS amount FROM (${sql}) AS part GROUP BY nth, grp)
                   WHERE amount != 0
                   GROUP BY grp
                 )
               )
               GROUP BY position
             )`,
    { ...settings, max_query_size: MAX_QUERY_BYTES },
  );
}

function costs(
  scope: Scope,
  { filter, groups, starts, requestsPerHour }: SpendQuery,
): Pick<TelemetryQuery<unknown>, 'settings'> & { readonly sql: TelemetrySql } {
  const bounds = rawSql(`[${starts.map(Math.trunc).join(',')}]::Array(Int64)`);
  const select = (seconds: string) =>
    fragment`SELECT roundDown(toInt64(toUnixTimestamp(${rawSql(seconds)})), ${bounds}) AS nth,
                    ${groupOf(groups)} AS grp, sum(cost_micro_pkr) AS amount
             FROM request_log`;
  const ofRows = select('timestamp');
  const grouping = groups.by === 'member' ? 'key' : groups.by;
  // The rollup knows owners and models only.
  const isFiltered = Object.values(filter).some((condition) => condition !== undefined);
  const hours = isFiltered
    ? undefined
    : rollupWindow(scope, { grouping, widthSeconds: 3600 }, requestsPerHour);
  const split = hours && splitHours(hours, starts);
  if (!hours || !split) {
    return {
      sql: fragment`${ofRows} WHERE ${conditions(scope, filter)} GROUP BY nth, grp`,
      settings: READ_ROWS,
    };
  }
  const { rest, whole } = rollupConditions(scope, hours, split);
  return {
    sql: fragment`${ofRows} WHERE ${rest} GROUP BY nth, grp
                  UNION ALL ${select('toStartOfHour(timestamp)')} WHERE ${whole} GROUP BY nth, grp`,
    settings: {},
  };
}
