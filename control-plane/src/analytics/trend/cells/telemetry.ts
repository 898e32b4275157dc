import { fragment, rawSql, type TelemetrySql } from '@gatehouse/store';
import { merged, mergedState } from '../../breakdown/telemetry.ts';

/*
 * From the cells of a trend, a row for each bucket (`nth`) and group (`place`, from 1), to its series: for each place the
 * cells and the list of each sum and quantile, those of the whole window first, as cell 0.
 *
 * Quantiles are counters of a thousand times each, so merging them is dear. The cells of a group are merged, and those of a
 * bucket, and then the few groups into all. GROUPING SETS with all four would merge each counter four times.
 */

/** How a column of sums or counters is merged and read. */
interface Value {
  readonly name: string;
  /** An expression that can be merged again. */
  readonly merge: (column: string) => string;
  /** The expression that reads one row's value. */
  readonly read: (column: string) => string;
  /** The expression over all rows, or those that meet a condition. */
  readonly total: (column: string, condition?: string) => string;
}

/** The series of all. The query has no places. */
export function seriesOfAll(
  cells: TelemetrySql,
  sums: readonly string[],
  quantiles: readonly string[],
): TelemetrySql {
  const lists = listOf(valuesOf(sums, quantiles), ({ name, read, total }) => {
    const column = `part.${name}`;
    return `arrayPushFront(groupArray(${read(column)}), ${total(column)})`;
  });
  const series = rawSql(`(toUInt32(0), arrayPushFront(groupArray(nth), 0)${lists})`);
  return fragment`SELECT [${series}] AS found FROM (${cells}) AS part`;
}

/** The series of all, place 0, and of each place. */
export function seriesOfGroups(
  cells: TelemetrySql,
  sums: readonly string[],
  quantiles: readonly string[],
): TelemetrySql {
  const values = valuesOf(sums, quantiles);
  // A row of the subquery is a place, or with place 0 a bucket.
  const ofPlace = listOf(
    values,
    ({ name, read }) => `arrayPushFront(${name}_cells, ${read(`${name}_merged`)})`,
  );
  const ofAll = listOf(values, ({ name, read, total }) => {
    const column = `${name}_merged`;
    return `arrayPushFront(groupArrayIf(${read(column)}, place = 0), ${total(column, 'place > 0')})`;
  });
  const found = rawSql(
    `arrayPushFront(
       groupArrayIf((place, arrayPushFront(cells, 0)${ofPlace}), place > 0),
       (toUInt32(0), arrayPushFront(groupArrayIf(nth, place = 0), 0)${ofAll}))`,
  );
  const merges = listOf(values, ({ name, read, merge }) => {
    const column = `part.${name}`;
    return `groupArray(${read(column)}) AS ${name}_cells, ${merge(column)} AS ${name}_merged`;
  });
  return fragment`SELECT ${found} AS found
                  FROM (SELECT nth, place, groupArray(part.nth) AS cells${rawSql(merges)}
                        FROM (${cells}) AS part GROUP BY GROUPING SETS ((nth), (place)))`;
}

const valuesOf = (sums: readonly string[], quantiles: readonly string[]) => [
  ...sums.map(sumValue),
  ...quantiles.map(quantilesValue),
];

const listOf = (values: readonly Value[], of: (value: Value) => string) =>
  values.map((value) => `, ${of(value)}`).join('');

function sumValue(name: string): Value {
  // Micro-PKR may exceed what a JSON number holds exactly.
  const read = (sum: string) => (name === 'cost' ? `toString(${sum})` : `ifNull(${sum}, 0)`);
  const merge = (column: string) => `sum(${column})`;
  return {
    name,
    merge,
    read,
    total: (column, condition) => read(condition ? `sumIf(${column}, ${condition})` : merge(column)),
  };
}

function quantilesValue(name: string): Value {
  return { name, merge: mergedState, read: (column) => `finalizeAggregation(${column})`, total: merged };
}
