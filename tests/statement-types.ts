import type { DescribedStatement } from '@gatehouse/store/testing';

/**
 * TypeScript that compiles only where a statement's declaration is what PostgreSQL says of it. The compiler knows the
 * declared types, the database the true ones; this is how the two are compared.
 */
export interface CheckedStatement {
  readonly name: string;
  /** The module that exports the statement, and the export's name. */
  readonly path: string;
  readonly exportName: string;
  readonly described: DescribedStatement;
}

/** The names that the lines of `checksOf` use. */
const PRELUDE = `
type Column<Base, IsNullable extends boolean | undefined> = { base: Base; isNullable: IsNullable };
type Wrong<Name, Declared, Is> = { member: Name; declared: Declared; is: Is };
type RowProblem<Row, Is> = [Row] extends [never] ? never : {
  [Name in keyof Row | keyof Is]:
    Name extends keyof Is
      ? Name extends keyof Row
        ? MemberProblem<Name, Row[Name], Is[Name]>
        : Wrong<Name, 'nothing', Is[Name]>
      : Wrong<Name, Name extends keyof Row ? Row[Name] : never, 'no column of that name'>;
}[keyof Row | keyof Is];
type MemberProblem<Name, Declared, Is> = Is extends Column<infer Base, infer IsNullable>
  ? [unknown] extends [Base] ? never
  : [unknown] extends [Declared] ? Wrong<Name, Declared, Is>
  : [Exclude<Declared, null>] extends [Base]
    ? IsNullable extends true ? (null extends Declared ? never : Wrong<Name, Declared, Is>)
    : never
  : Wrong<Name, Declared, Is>
  : never;
type ParameterProblem<Parameters, Is> = {
  [Name in keyof Parameters]: Name extends keyof Is
    ? [Exclude<Parameters[Name], null>] extends [Is[Name]] ? never : Wrong<Name, Parameters[Name], Is[Name]>
    : Wrong<Name, Parameters[Name], 'no parameter of that name'>;
}[keyof Parameters];
type Fits<S, Row, Parameters> = S extends Statement<infer P, infer R>
  ? [RowProblem<R, Row> | ParameterProblem<P, Parameters>] extends [never] ? true : RowProblem<R, Row> | ParameterProblem<P, Parameters>
  : 'not a statement';
`;

/** One line for each statement, in order, after the lines that it needs. */
export function checksOf(
  statements: readonly CheckedStatement[],
  statementModule: string,
): { readonly text: string; readonly lines: ReadonlyMap<number, CheckedStatement> } {
  const paths = [...new Set(statements.map(({ path }) => path))];
  const head = [
    `import type { Statement } from '${statementModule}';`,
    ...paths.map((path, index) => `import type * as m${index} from '${path}';`),
    PRELUDE,
  ].join('\n');
  const first = head.split('\n').length + 1;
  const lines = statements.map(({ path, exportName, described }, index) => {
    const row = described.columns.map(
      ({ name, type, isNullable }) => `${memberOf(name)}: Column<${baseOf(type)}, ${String(isNullable)}>`,
    );
    const parameters = described.parameters.map(({ name, type }) => `${name}: ${parameterBaseOf(type)}`);
    return `export const check${index}: Fits<typeof m${paths.indexOf(path)}.${exportName}, { ${row.join('; ')} }, { ${parameters.join('; ')} }> = true;`;
  });
  return {
    text: [head, ...lines, ''].join('\n'),
    lines: new Map(statements.map((statement, index) => [first + index, statement])),
  };
}

function memberOf(column: string): string {
  return JSON.stringify(column.replace(/_([a-z0-9])/g, (_, character: string) => character.toUpperCase()));
}

const BASES: Readonly<Record<string, string>> = {
  boolean: 'boolean',
  smallint: 'number',
  integer: 'number',
  'double precision': 'number',
  bigint: 'bigint',
  numeric: 'bigint',
  text: 'string',
  'character varying': 'string',
  name: 'string',
  uuid: 'string',
  'timestamp with time zone': 'string',
  interval: 'string',
  bytea: 'Buffer',
  'text[]': 'readonly string[]',
  'uuid[]': 'readonly string[]',
};

/** The type that the driver, or database.ts, makes of a value of this type. */
function baseOf(type: string): string {
  return BASES[type] ?? 'unknown';
}

/** The types that may be passed: also a number for a bigint, a Date for a timestamp, any bytes. */
function parameterBaseOf(type: string): string {
  const item = type.endsWith('[]') ? type.slice(0, -2) : undefined;
  if (item !== undefined) return `readonly (${parameterBaseOf(item)} | null)[]`;
  if (type === 'bigint' || type === 'numeric') return 'bigint | number';
  if (type === 'timestamp with time zone') return 'string | Date';
  if (type === 'bytea') return 'Uint8Array';
  return BASES[type] ?? 'string';
}
