// Which changes of schema.sql break a version that was written for the schema before. A statement that no longer fits is found by
// preparing it; this is about rows that the version before writes and reads.

interface Table {
  readonly columns: Map<string, Column>;
  /** By the text after the name, where they have one: constraints, unique indexes, triggers. */
  readonly rules: Set<string>;
}

interface Column {
  readonly type: string;
  readonly isRequired: boolean;
  /** True if it has a value where an INSERT names none. */
  readonly isFilled: boolean;
}

const TABLE = /^CREATE TABLE (\S+) \($/;
const COLUMN = /^ {2}(\S+) (.+?)( NOT NULL)?( GENERATED .+?)?( DEFAULT .+?)?,?$/;
const RULE = /^(?:CREATE UNIQUE INDEX .*|CREATE TRIGGER .*);$/;

/** Reads the lines of schema.sql. */
function tablesOf(lines: readonly string[]): Map<string, Table> {
  const tables = new Map<string, Table>();
  let table: Table | undefined;
  let isInside = false;
  for (const line of lines) {
    const [, name] = TABLE.exec(line) ?? [];
    if (name !== undefined) {
      table = { columns: new Map(), rules: new Set() };
      tables.set(name, table);
      isInside = true;
    } else if (line.startsWith(')')) isInside = false;
    else if (isInside && line.startsWith('  CONSTRAINT ')) table?.rules.add(line.trim().replace(/,$/, ''));
    else if (isInside) {
      const [, column = '', type = '', notNull, generated, fallback] = COLUMN.exec(line) ?? [];
      const isFilled = generated !== undefined || fallback !== undefined;
      table?.columns.set(column, { type, isRequired: notNull !== undefined, isFilled });
    } else if (RULE.test(line)) table?.rules.add(line);
    else if (line.startsWith('-- Functions')) break;
  }
  return tables;
}

/** One sentence for each change that can break a version that was written for `before`. */
export function schemaProblems(before: readonly string[], now: readonly string[]): string[] {
  const present = tablesOf(now);
  return [...tablesOf(before)].flatMap(([name, was]) => {
    const is = present.get(name);
    return is ? tableProblems(name, was, is) : [`${name} is gone`];
  });
}

function tableProblems(name: string, was: Table, is: Table): string[] {
  const problems = [...was.columns].flatMap(([column, before]) =>
    columnProblems(before, is.columns.get(column)).map((problem) => `${name}.${column} ${problem}`),
  );
  const added = [...is.columns.keys()].filter((column) => !was.columns.has(column));
  for (const column of added) {
    const { isRequired, isFilled } = is.columns.get(column) as Column;
    if (isRequired && !isFilled) problems.push(`${name}.${column} is new, not null, and has no default`);
  }
  for (const rule of is.rules) {
    // The version before leaves new columns to their defaults.
    const isOfNewColumns = added.some((column) => new RegExp(`\\b${column}\\b`).test(rule));
    if (!was.rules.has(rule) && !isOfNewColumns) problems.push(`${name} has a new rule: ${rule}`);
  }
  return problems;
}

function columnProblems(was: Column, is: Column | undefined): string[] {
  if (!is) return ['is gone'];
  return [
    ...(was.type === is.type ? [] : [`was ${was.type} and is ${is.type}`]),
    ...(!was.isRequired && is.isRequired ? ['may no longer be null'] : []),
    ...(was.isRequired && !is.isRequired ? ['may be null, which readers do not expect'] : []),
    ...(was.isFilled && !is.isFilled ? ['has no default any more'] : []),
  ];
}
