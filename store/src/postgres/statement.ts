import type { PlainText } from '@gatehouse/contract';
import { compileSql, type Sql } from './sql.ts';

/**
 * A named SQL text with the types of its parameters and of a result row, whose members are in camelCase. The name makes
 * PostgreSQL prepare the text once per connection.
 */
export interface Statement<Parameters, Row> {
  readonly name: string;
  readonly text: string;
  /** In the order of `$1`, `$2`, ... Undefined for the old form, whose values are a list and whose rows are as they come. */
  readonly parameterNames?: readonly string[];
  /** Carry the types; never present at run time. */
  readonly parametersOf?: (parameters: Parameters) => void;
  readonly row?: Row;
}

/** Of a statement without parameters. */
export type NoParameters = Record<never, never>;

/** The values of a statement in the old form. */
export type PositionalValues = readonly unknown[];

/**
 * What a statement can take. No `Secret` and no `PlainToken`: what is stored of a secret is its hash, or its sealed form.
 * JSON is passed as text.
 */
export type ParameterValue = Scalar | null | readonly (Scalar | null)[];
type Scalar = StorableText | number | bigint | boolean | Date | Uint8Array;
type StorableText = string & PlainText;

type Storable<Value> = Value extends string
  ? Value & PlainText
  : Value extends readonly (infer Item)[]
    ? readonly Storable<Item>[]
    : Value;

/** What a call passes after the statement: nothing, the parameters by name, or (old form) a list. */
export type StatementArguments<Parameters> = keyof Parameters extends never
  ? []
  : Parameters extends PositionalValues
    ? [values?: PositionalValues]
    : [parameters: { readonly [Name in keyof Parameters]: Storable<Parameters[Name]> }];

const registry = new Map<string, Statement<never, unknown>>();

/**
 * Declares a statement. That the parameters in the text are exactly those declared is checked by the compiler; that the
 * text, the parameters and the row fit the schema, by tests/statements.test.ts.
 * @throws Error when another text has the name
 */
export function statement<
  Parameters extends { readonly [Name in keyof Parameters]: ParameterValue },
  Row = never,
>(name: string, text: Sql<keyof Parameters & string>): Statement<Parameters, Row>;
/** The old form: `$1` in the text, values as a list, rows as they come. */
export function statement<Row = never>(name: string, text: string): Statement<PositionalValues, Row>;
export function statement(name: string, text: string | Sql<string>): Statement<never, unknown> {
  if (typeof text === 'string') return { name, text };
  const made = { name, ...compileSql(text) };
  const known = registry.get(name);
  if (known && known.text !== made.text) throw new Error(`two statements are named ${name}`);
  registry.set(name, made);
  return made;
}

/** Every statement that the modules loaded so far have declared, by name. */
export function declaredStatements(): ReadonlyMap<string, Statement<never, unknown>> {
  return registry;
}

/** The values in the order of the text. @throws TypeError when one is missing. */
export function valuesOf(
  { name, parameterNames }: Statement<never, unknown>,
  given: PositionalValues | Readonly<Record<string, unknown>> = {},
): unknown[] {
  if (Array.isArray(given)) return [...given];
  return (parameterNames ?? []).map((parameter) => {
    const value = (given as Record<string, unknown>)[parameter];
    if (value === undefined) throw new TypeError(`${name} needs ${parameter}`);
    return value;
  });
}

/** The member of a row for a column: `key_prefix` is `keyPrefix`. */
export function memberName(column: string): string {
  return column.replace(/_([a-z0-9])/g, (_, character: string) => character.toUpperCase());
}
