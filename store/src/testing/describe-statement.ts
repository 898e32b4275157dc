import type { Client, FieldDef } from 'pg';
import type { Statement } from '../postgres/statement.ts';

/** A statement as PostgreSQL sees it after preparing it. Nothing is run. */
export interface DescribedStatement {
  readonly parameters: readonly { readonly name: string; readonly type: string }[];
  readonly columns: readonly DescribedColumn[];
}

export interface DescribedColumn {
  readonly name: string;
  /** As `format_type` names it, such as `timestamp with time zone`. */
  readonly type: string;
  /** Undefined where it depends on the query: an expression, a table in an outer join, a column that is tested for null. */
  readonly isNullable: boolean | undefined;
  /** The origin of the column, such as `api_keys.id`; undefined for an expression. */
  readonly origin: string | undefined;
}

interface Described {
  readonly parameterTypes: readonly number[];
  readonly fields: readonly FieldDef[];
}

/** @throws DatabaseError when the text does not fit the schema */
export async function describeStatement(
  client: Client,
  { text, parameterNames }: Statement<never, unknown>,
): Promise<DescribedStatement> {
  const { parameterTypes, fields } = await prepare(client, text);
  const { rows } = await client.query<{ oid: number; name: string }>(
    'SELECT o AS oid, format_type(o, NULL) AS name FROM unnest($1::oid[]) AS o',
    [[...parameterTypes, ...fields.map(({ dataTypeID }) => dataTypeID)]],
  );
  const typeNames = new Map(rows.map(({ oid, name }) => [Number(oid), name]));
  const nameOf = (oid: number) => typeNames.get(oid) ?? String(oid);
  return {
    parameters: parameterTypes.map((oid, index) => ({
      name: parameterNames[index] ?? '?',
      type: nameOf(oid),
    })),
    columns: await Promise.all(
      fields.map(async (field) => ({
        name: field.name,
        type: nameOf(field.dataTypeID),
        ...(await originOf(client, field, text)),
      })),
    ),
  };
}

async function originOf(
  client: Client,
  { tableID, columnID }: FieldDef,
  text: string,
): Promise<Pick<DescribedColumn, 'isNullable' | 'origin'>> {
  if (tableID === 0) return { isNullable: undefined, origin: undefined };
  const { rows } = await client.query<{ table: string; column: string; isNullable: boolean }>(
    `SELECT attrelid::regclass::text AS table, attname AS column, NOT attnotnull AS "isNullable"
     FROM pg_attribute WHERE attrelid = $1 AND attnum = $2`,
    [tableID, columnID],
  );
  const [found] = rows;
  if (!found) return { isNullable: undefined, origin: undefined };
  const origin = `${found.table}.${found.column}`;
  return { isNullable: dependsOnQuery(found, text) ? undefined : found.isNullable, origin };
}

function dependsOnQuery({ table, column }: { table: string; column: string }, text: string): boolean {
  if (new RegExp(`\\b${column} IS NOT NULL\\b`).test(text)) return true;
  const joins = [...text.matchAll(/\b(LEFT|RIGHT|FULL)\s+(?:OUTER\s+)?JOIN\s+(LATERAL\s*\(|\(|\w+)/gi)];
  return joins.some(
    ([, side, joined]) => side?.toUpperCase() !== 'LEFT' || joined === table || joined?.endsWith('('),
  );
}

/** Sends Parse and Describe, and no Execute. */
function prepare(client: Client, text: string): Promise<Described> {
  const { promise, resolve, reject } = Promise.withResolvers<Described>();
  const { connection } = client as Client & { readonly connection: Connection };
  let parameterTypes: readonly number[] = [];
  let fields: readonly FieldDef[] = [];
  const onParameters = (message: { readonly dataTypeIDs: readonly number[] }) => {
    parameterTypes = message.dataTypeIDs;
  };
  connection.on('parameterDescription', onParameters);
  client.query({
    submit(wire: Connection) {
      wire.parse({ name: '', text, types: [] });
      wire.describe({ type: 'S', name: '' });
      wire.sync();
    },
    handleRowDescription(message: { readonly fields: readonly FieldDef[] }) {
      fields = message.fields;
    },
    handleError: reject,
    handleReadyForQuery() {
      resolve({ parameterTypes, fields });
    },
  } as unknown as Parameters<Client['query']>[0]);
  return promise.finally(() => connection.off('parameterDescription', onParameters));
}

/** The driver's connection, whose extended protocol it offers to cursors and the like. */
interface Connection {
  on(event: string, listener: (message: never) => void): void;
  off(event: string, listener: (message: never) => void): void;
  parse(message: { name: string; text: string; types: readonly number[] }): void;
  describe(message: { type: 'S'; name: string }): void;
  sync(): void;
}
