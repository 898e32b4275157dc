import { fragment, int64, joinSql, rawSql, type TelemetrySql, uint32 } from '@gatehouse/store';
import { conditionsWithoutWindow, type Scope } from '../../telemetry.ts';
import type { Hours } from '../rules.ts';

/** The WHEREs that divide the rows of a scope between the hourly rollup and the rows themselves. */
export interface RollupConditions {
  /** Rows at both ends of the window, and in the split hours. */
  readonly rest: TelemetrySql;
  /** The whole hours; its expressions are those of the projections. */
  readonly whole: TelemetrySql;
  /** The rows of these hours. */
  readonly rowsOfWhole: TelemetrySql;
}

/** Split hours, in seconds since the epoch, are whole ones that must be read from rows. */
export function rollupConditions(scope: Scope, hours: Hours, split: readonly number[]): RollupConditions {
  const where = conditionsWithoutWindow(scope);
  const from = fragment`fromUnixTimestamp64Micro(${int64('from_micros', scope.fromMicros)})`;
  const to = fragment`fromUnixTimestamp64Micro(${int64('to_micros', scope.toMicros)})`;
  const [fromHour, toHour] = [uint32('from_hour', hours.fromSeconds), uint32('to_hour', hours.toSeconds)];
  const firstHour = fragment`toDateTime64(${fromHour}, 6, 'UTC')`;
  const endOfHours = fragment`toDateTime64(${toHour}, 6, 'UTC')`;
  const isSplit = (negated: string) =>
    split.length === 0
      ? []
      : [
          fragment`toStartOfHour(timestamp) ${rawSql(negated)} IN (${joinSql(
            split.map((hour) => rawSql(`toDateTime(${Math.trunc(hour)}, 'UTC')`)),
            ', ',
          )})`,
        ];
  const ofRest = joinSql(
    [
      fragment`(timestamp >= ${from} AND timestamp < ${firstHour})`,
      fragment`(timestamp >= ${endOfHours} AND timestamp <= ${to})`,
      ...isSplit(''),
    ],
    ' OR ',
  );
  return {
    rest: fragment`${where} AND (${ofRest})`,
    whole: joinSql(
      [
        where,
        fragment`toStartOfHour(timestamp) >= toDateTime(${fromHour}, 'UTC')`,
        fragment`toStartOfHour(timestamp) < toDateTime(${toHour}, 'UTC')`,
        ...isSplit('NOT'),
      ],
      ' AND ',
    ),
    rowsOfWhole: joinSql(
      [where, fragment`timestamp >= ${firstHour} AND timestamp < ${endOfHours}`, ...isSplit('NOT')],
      ' AND ',
    ),
  };
}
