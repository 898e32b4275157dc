import type { PlainText } from '@gatehouse/contract';
import { compileSql, type Sql } from './sql.ts';

/**
 * A named SQL text with the types of its parameters and of a result row, whose members are in camelCase. The name makes
 * PostgreSQL prepare the text once per connection.
 */
export interface Statement<Parameters, Row> {
  readonly name: string;
  readonly text: string;
  /** In the order of `$1`, `$2`, ... */
  readonly parameterNames: readonly string[];
  /** Carry the types; never present at run time. */
  readonly parametersOf?: (parameters: Parameters) => void;
  readonly row?: Row;
}

/** The parameters of a statement without any. */
export type NoParameters = Record<never, never>;

/**
 * The values that a statement can take. No `Secret` and no `PlainToken`: what is stored of a secret is its hash, or its sealed form. JSON
 * is passed as text.
 */
export type ParameterValue = Scalar | null | readonly (Scalar | null)[];
type Scalar = StorableText | number | bigint | boolean | Date | Uint8Array;
type StorableText = string & PlainText;

type Storable<Value> = Value extends string
  ? Value & PlainText
  : Value extends readonly (infer Item)[]
    ? readonly Storable<Item>[]
    : Value;

/** The arguments of a call after the statement: the parameters by name, or nothing if there are none. */
export type StatementArguments<Parameters> = keyof Parameters extends never
  ? []
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
>(name: string, text: Sql<keyof Parameters & string>): Statement<Parameters, Row> {
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
  given: Readonly<Record<string, unknown>> = {},
): unknown[] {
  return parameterNames.map((parameter) => {
    const value = given[parameter];
    if (value === undefined) throw new TypeError(`${name} needs ${parameter}`);
    return value;
  });
}

/** The member of a row for a column: `key_prefix` is `keyPrefix`. */
export function memberName(column: string): string {
  return column.replace(/_([a-z0-9])/g, (_, character: string) => character.toUpperCase());
}
