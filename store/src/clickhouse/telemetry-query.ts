import type { KeyId, OrganizationId, ProjectId } from '@gatehouse/contract';

/**
 * SQL for the telemetry store, composed from fragments that carry their parameters. Text interpolated into a fragment is
 * a parameter, another fragment or SQL that the code marks with `rawSql`; a plain string does not compile.
 *
 * The engine wraps a value that does not fit its type instead of rejecting it, so a value is checked against the range
 * of its column before it becomes a parameter.
 */
export interface TelemetrySql {
  readonly sql: string;
  readonly parameters: Parameters;
}

type Parameters = Readonly<Record<string, string | number | bigint>>;

/** A named value with its ClickHouse type. */
export interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly value: string | number | bigint;
}

/** The settings of the engine for one query, for speed. What limits a query is the same for all. */
export type EngineSettings = Readonly<Record<string, string | number>>;

/** A query with its parameters and the type of its rows. */
export interface TelemetryQuery<Row> extends TelemetrySql {
  readonly settings: EngineSettings;
  /** Carries the type of a row; never present at run time. */
  readonly row?: Row;
}

export const int64 = (name: string, value: bigint): Parameter => ({ name, type: 'Int64', value });
export const uint64 = (name: string, value: number): Parameter => ({ name, type: 'UInt64', value });
export const uint32 = (name: string, value: number): Parameter => ({ name, type: 'UInt32', value });
export const uint8 = (name: string, value: number): Parameter => ({ name, type: 'UInt8', value });
export const uuid = (name: string, value: OrganizationId | ProjectId | KeyId): Parameter => ({
  name,
  type: 'UUID',
  value,
});
export const text = (name: string, value: string): Parameter => ({ name, type: 'String', value });

/** A text of any content as SQL, by its bytes. For lists that are too long for parameters, which travel in a URL. */
export function textLiteral(value: string): TelemetrySql {
  return rawSql(`unhex('${Buffer.from(value, 'utf8').toString('hex')}')`);
}

/** SQL as it is. For constants of the code only, never for anything a caller sent. */
export function rawSql(sql: string): TelemetrySql {
  return { sql, parameters: {} };
}

/** A template tag. A parameter may occur several times under one name, with one value. */
export function fragment(
  strings: TemplateStringsArray,
  ...parts: readonly (Parameter | TelemetrySql)[]
): TelemetrySql {
  let sql = strings[0] ?? '';
  const parameters: Record<string, string | number | bigint> = {};
  for (const [index, part] of parts.entries()) {
    sql += ('sql' in part ? part.sql : `{${part.name}:${part.type}}`) + strings[index + 1];
    add(parameters, 'sql' in part ? part.parameters : { [part.name]: part.value });
  }
  return { sql, parameters };
}

/** The fragments one after another, with a separator such as ` AND ` between them. */
export function joinSql(fragments: readonly TelemetrySql[], separator: string): TelemetrySql {
  const parameters = {};
  for (const one of fragments) add(parameters, one.parameters);
  return { sql: fragments.map(({ sql }) => sql).join(separator), parameters };
}

/** Declares the type of a query's rows. */
export function telemetryQuery<Row>(query: TelemetrySql, settings: EngineSettings = {}): TelemetryQuery<Row> {
  return { ...query, settings };
}

function add(all: Record<string, string | number | bigint>, more: Parameters): void {
  for (const [name, value] of Object.entries(more)) {
    if (name in all && all[name] !== value) throw new Error(`the parameter ${name} has two values`);
    all[name] = value;
  }
}
