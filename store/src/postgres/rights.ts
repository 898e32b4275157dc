import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { RETENTION_ROLE, SERVICE_ROLE } from './roles.ts';

/*
 * Who owns the tables and functions, how the functions run, and who may use what: in a database, beside what `schema.sql`
 * says. A restore by hand, a tool with its own defaults and a GRANT by hand change these without a trace in the history of
 * migrations. A function with SECURITY DEFINER that belongs to a stronger role than its own runs with that role's rights.
 */

/** One property that is not as the schema says. */
export interface RightsDifference {
  /** Such as `owner of function purge_activity: gatehouse, not gatehouse_retention`. */
  readonly name: string;
  /** The statement that restores it. */
  readonly repair?: string;
  /** The file of a function that has to be applied again. */
  readonly file?: string;
}

/** The lines of `schema.sql` for functions: as comments, because their text is in functions/. */
export const FUNCTION_LINES = `
  SELECT format('-- %s(%s) RETURNS %s %s %s%s%s%s', p.proname, pg_get_function_identity_arguments(p.oid),
           pg_get_function_result(p.oid), l.lanname,
           CASE p.provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END,
           CASE WHEN p.prosecdef THEN ' SECURITY DEFINER' ELSE '' END,
           coalesce(' SET ' || replace(array_to_string(p.proconfig, ' SET '),
             format('search_path=%I, pg_temp', current_schema()), 'search_path=public, pg_temp'), ''),
           CASE WHEN r.rolname = '${RETENTION_ROLE}' THEN ' OWNER ' || r.rolname ELSE '' END) AS line,
         p.proname AS name, r.rolname AS owner
  FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang JOIN pg_roles r ON r.oid = p.proowner
  WHERE p.pronamespace = current_schema()::regnamespace
  ORDER BY p.proname COLLATE "C", 1`;

/** The lines of `schema.sql` for rights: of every role but the owner of the object. */
export const GRANT_LINES = `
  WITH objects AS (
    SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE '' END || c.oid::regclass AS name, c.relowner AS owner, a.*
    FROM pg_class c, aclexplode(c.relacl) a
    WHERE c.relnamespace = current_schema()::regnamespace
    UNION ALL
    SELECT format('%s (%I)', c.oid::regclass, t.attname), c.relowner, a.*
    FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
    WHERE c.relnamespace = current_schema()::regnamespace
    UNION ALL
    SELECT 'FUNCTION ' || p.proname, p.proowner, a.*
    FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    WHERE p.pronamespace = current_schema()::regnamespace
    UNION ALL
    SELECT 'SCHEMA public', n.nspowner, a.* FROM pg_namespace n, aclexplode(n.nspacl) a
    WHERE n.oid = current_schema()::regnamespace
  )
  SELECT format('GRANT %s ON %s TO %s', string_agg(DISTINCT privilege_type, ', ' ORDER BY privilege_type), name, grantee) AS line
  FROM (SELECT name, privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END AS grantee
        FROM objects WHERE grantee <> owner) o
  GROUP BY name, grantee ORDER BY name COLLATE "C", grantee COLLATE "C"`;

const TABLES = `
  SELECT CASE c.relkind WHEN 'S' THEN 'sequence' ELSE 'table' END AS kind, c.oid::regclass::text AS name,
         pg_get_userbyid(c.relowner) AS owner
  FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'S')
    AND NOT (c.relkind = 'S' AND EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')))
  ORDER BY c.relname COLLATE "C"`;

// Everything belongs to the owner of the history. A restore by a superuser makes that the superuser: then it is the login that may
// take on the role for retention, as only an owner may, and that could not migrate any more.
const OWNER = `
  SELECT CASE WHEN r.rolsuper AND NOT pg_has_role(r.oid, 'MEMBER')
                AND pg_has_role((SELECT oid FROM pg_roles WHERE rolname = '${RETENTION_ROLE}'), 'MEMBER')
              THEN current_user ELSE r.rolname END AS owner,
         quote_ident(current_schema()) AS schema
  FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE c.oid = to_regclass('schema_migrations')`;

const TRIGGERS = `
  SELECT t.tgname AS name, t.tgrelid::regclass::text AS "table", t.tgenabled IN ('O', 'A') AS "isEnabled"
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
  WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal`;

interface FunctionRow {
  readonly line: string;
  readonly name: string;
  readonly owner: string;
}
interface TableRow {
  readonly kind: 'table' | 'sequence';
  readonly name: string;
  readonly owner: string;
}
interface TriggerRow {
  readonly name: string;
  readonly table: string;
  readonly isEnabled: boolean;
}

const PARTITION = /^settlements_\d{8}$/;
// Reading is the operator's to give, for instance to a reporting tool.
const READING = new Set(['SELECT', 'USAGE']);
const ROLES = new Set(['PUBLIC', SERVICE_ROLE, RETENTION_ROLE]);

/** Compares the database of this connection with `schema.sql`; its history must be this version's. Changes nothing. */
export async function findRightsDifferences(client: pg.Client): Promise<RightsDifference[]> {
  const text = await readFile(join(import.meta.dirname, 'schema.sql'), 'utf8');
  await client.query('BEGIN READ ONLY');
  try {
    const { rows } = await client.query<{ owner: string; schema: string }>(OWNER);
    if (rows[0] === undefined) return [];
    const { owner, schema } = rows[0];
    // Names are then written without their schema.
    await client.query(`SELECT set_config('search_path', $1, true)`, [schema]);
    const functions = await client.query<FunctionRow>(FUNCTION_LINES);
    const tables = await client.query<TableRow>(TABLES);
    const triggers = await client.query<TriggerRow>(TRIGGERS);
    const grants = await client.query<{ line: string }>(GRANT_LINES);
    const objects = [...functions.rows.map(asObject), ...tables.rows];
    const existing = new Set(objects.map(({ kind, name }) => `${kind} ${name}`)).add('schema public');
    return [
      ...ofTables(text, existing),
      ...ofOwners(text, objects, owner),
      ...ofFunctions(text, functions.rows),
      ...ofTriggers(text, triggers.rows),
      ...ofGrants(text, grants.rows, { owner, schema, existing }),
    ];
  } finally {
    await client.query('ROLLBACK');
  }
}

function asObject({ name, owner }: FunctionRow) {
  return { kind: 'function' as const, name, owner };
}

function linesOf(text: string, pattern: RegExp): RegExpExecArray[] {
  return text.split('\n').flatMap((line) => {
    const match = pattern.exec(line);
    return match ? [match] : [];
  });
}

/** The objects of the schema, by kind and name: `table api_keys`. Another program may keep its own beside them. */
function objectsOf(text: string): Set<string> {
  return new Set([
    ...linesOf(text, /^CREATE TABLE (\S+)/).map(([, name]) => `table ${name}`),
    ...linesOf(text, /^CREATE SEQUENCE (\S+)/).map(([, name]) => `sequence ${name}`),
    ...linesOf(text, /^-- (\w+)\(/).map(([, name]) => `function ${name}`),
    'schema public',
  ]);
}

function ofTables(text: string, existing: ReadonlySet<string>): RightsDifference[] {
  return [...objectsOf(text)]
    .filter((object) => !object.startsWith('function ') && !existing.has(object))
    .map((object) => ({ name: `${object}: missing` }));
}

function ofOwners(
  text: string,
  objects: readonly { readonly kind: string; readonly name: string; readonly owner: string }[],
  owner: string,
): RightsDifference[] {
  const known = objectsOf(text);
  const retentions = new Set(
    linesOf(text, new RegExp(`^-- (\\w+)\\(.* OWNER ${RETENTION_ROLE}$`)).map(([, name]) => name),
  );
  return objects
    .filter(({ kind, name }) => known.has(`${kind} ${name}`) || PARTITION.test(name))
    .map((one) => ({
      ...one,
      wanted: one.kind === 'function' && retentions.has(one.name) ? RETENTION_ROLE : owner,
    }))
    .filter((one) => one.owner !== one.wanted)
    .map(({ kind, name, owner: found, wanted }) => ({
      name: `owner of ${kind} ${name}: ${found}, not ${wanted}`,
      repair: `ALTER ${kind.toUpperCase()} ${name} OWNER TO ${pg.escapeIdentifier(wanted)}`,
    }));
}

function ofFunctions(text: string, rows: readonly FunctionRow[]): RightsDifference[] {
  const withoutOwner = (line: string) => line.replace(/ OWNER \S+$/, '');
  return linesOf(text, /^(-- (\w+)\(.*)$/).flatMap(([, line = '', name = '']) => {
    const found = rows.filter((row) => row.name === name).map((row) => withoutOwner(row.line));
    const wanted = withoutOwner(line);
    if (found.length === 1 && found[0] === wanted) return [];
    const file = `functions/${name}.sql`;
    if (found.length === 0) return [{ name: `function ${name}: missing`, file }];
    if (found.length > 1) return [{ name: `function ${name}: ${found.length} of this name, not 1` }];
    const isDefiner = (one = '') => / SECURITY DEFINER/.test(one);
    const rights = (one = '') => (isDefiner(one) ? 'SECURITY DEFINER' : 'SECURITY INVOKER');
    return isDefiner(found[0]) === isDefiner(wanted)
      ? [{ name: `function ${name}: ${found[0]?.slice(3)}, not ${wanted.slice(3)}`, file }]
      : [{ name: `function ${name}: ${rights(found[0])}, not ${rights(wanted)}`, file }];
  });
}

function ofTriggers(text: string, rows: readonly TriggerRow[]): RightsDifference[] {
  return linesOf(text, /^CREATE (?:CONSTRAINT )?TRIGGER (\S+) .*? ON (\S+) /).flatMap(
    ([, name = '', table = '']) => {
      const found = rows.find((row) => row.name === name && row.table === table);
      if (found === undefined) return [{ name: `trigger ${name} of table ${table}: missing` }];
      if (found.isEnabled) return [];
      return [
        {
          name: `trigger ${name} of table ${table}: disabled`,
          repair: `ALTER TABLE ${table} ENABLE TRIGGER ${name}`,
        },
      ];
    },
  );
}

/** Rights by object and role: `table api_keys` or `table organizations (name)`. */
type Grants = Map<string, Set<string>>;

function grantsOf(lines: readonly string[]): Grants {
  const grants: Grants = new Map();
  for (const line of lines) {
    const [, rights = '', kind = 'table ', name = '', role = ''] =
      /^GRANT (.+) ON (FUNCTION |SEQUENCE |SCHEMA )?(.+) TO (\S+?);?$/.exec(line) ?? [];
    grants.set(`${role} ${kind.toLowerCase()}${name}`, new Set(rights.split(', ')));
  }
  return grants;
}

function ofGrants(
  text: string,
  rows: readonly { readonly line: string }[],
  { owner, schema, existing }: { owner: string; schema: string; existing: ReadonlySet<string> },
): RightsDifference[] {
  const known = objectsOf(text);
  // They migrate, also where the database and its schema belong to an administrator.
  const owners = new Set([owner, pg.escapeIdentifier(owner), 'pg_database_owner']);
  const wanted = grantsOf(linesOf(text, /^GRANT .*$/).map(([line]) => line));
  const found = grantsOf(rows.map(({ line }) => line));
  // Any login may use the schema `public`, and none another schema.
  wanted.delete('PUBLIC schema public');
  found.get('PUBLIC schema public')?.delete('USAGE');
  return [...new Set([...wanted.keys(), ...found.keys()])].sort().flatMap((key) => {
    const [, role = '', object = '', column = ''] =
      /^("(?:[^"]|"")+"|\S+) (\w+ .*?)( \(.+\))?$/.exec(key) ?? [];
    const name = object.slice(object.indexOf(' ') + 1);
    // A function that is missing gets its rights with its text.
    if (owners.has(role) || !existing.has(object) || !(known.has(object) || PARTITION.test(name))) return [];
    const [has, should] = [found, wanted].map((grants) => grants.get(key) ?? new Set<string>()) as [
      Set<string>,
      Set<string>,
    ];
    const mayHave = (right: string) => should.has(right) || (!ROLES.has(role) && READING.has(right));
    const missing = [...should].filter((right) => !has.has(right));
    const excess = [...has].filter((right) => !mayHave(right));
    const on = object.startsWith('table ')
      ? `TABLE ${name}`
      : object.replace(/^\w+/, (kind) => kind.toUpperCase()).replace(/^SCHEMA public$/, `SCHEMA ${schema}`);
    const statement = (verb: string, rights: string[], to: string) =>
      `${verb} ${rights.map((right) => right + column).join(', ')} ON ${on} ${to} ${role}`;
    return [
      ...(missing.length === 0
        ? []
        : [
            {
              name: `rights on ${object}${column}: ${role} lacks ${missing.join(', ')}`,
              repair: statement('GRANT', missing, 'TO'),
            },
          ]),
      ...(excess.length === 0
        ? []
        : [
            {
              name: `rights on ${object}${column}: ${role} has ${excess.join(', ')}`,
              repair: statement('REVOKE', excess, 'FROM'),
            },
          ]),
    ];
  });
}
