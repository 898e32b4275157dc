import { createHash } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeLine, finished, JOURNAL_FORMAT, rateScripts } from '@gatehouse/gateway/testing';
import { type Database, declaredStatements, type Statement } from '@gatehouse/store';
import {
  createTestDatabase,
  createTestTelemetry,
  describeStatement,
  type TestDatabase,
  type TestTelemetry,
} from '@gatehouse/store/testing';

type Client = Awaited<ReturnType<Database['connect']>>;

/*
 * What a version needs of the stores that it shares with the next version while the two run side by side. release.json has that of
 * the last release; compatibility.test.ts holds the present schema against it. docs/upgrading.md explains the rules.
 */

export const RECORD = join(import.meta.dirname, 'release.json');

export interface ReleaseRecord {
  readonly version: string;
  /** Each numbered step of PostgreSQL's schema by its name, and each file of functions and rights, with its checksum. */
  readonly steps: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  /** The lines of schema.sql. */
  readonly schema: readonly string[];
  readonly statements: Readonly<Record<string, RecordedStatement>>;
  /** The columns of ClickHouse's `request_log`, with their types. */
  readonly requestLog: Readonly<Record<string, string>>;
  /** The format that the owner file of a journal names, and a line as the version writes it. */
  readonly journal: { readonly format: number; readonly line: string };
  /** The hash of each script that runs in Redis. */
  readonly redisScripts: Readonly<Record<string, string>>;
}

export interface RecordedStatement {
  readonly text: string;
  /** True if the service's role may run it. Operator commands run the others as the owner. */
  readonly isForService: boolean;
  /** `name type`, in order. */
  readonly parameters: readonly string[];
  /** `name type`, and `not null` where a null would surprise its reader, in order. */
  readonly columns: readonly string[];
}

const root = join(import.meta.dirname, '../..');
const ALSO = ['pooled-session', 'readiness', 'roles'].map((name) => `store/src/postgres/${name}.ts`);
const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** The statements of the product, which their modules export. The process may know others, of tests. */
async function loadStatements(): Promise<Statement<never, unknown>[]> {
  const paths = await Array.fromAsync(
    glob('*/src/**/queries.ts', { cwd: root, exclude: (path) => path.includes('node_modules') }),
  );
  const exported = new Set<unknown>();
  for (const path of [...paths.sort(), ...ALSO])
    for (const value of Object.values((await import(join(root, path))) as object)) exported.add(value);
  return [...declaredStatements().values()].filter((statement) => exported.has(statement));
}

async function checksums(folder: string): Promise<Record<string, string>> {
  const directory = join(root, 'store/src/postgres');
  const names = await Array.fromAsync(glob(folder, { cwd: directory }));
  const entries = names
    .sort()
    .map(async (name) => [name, hash(await readFile(join(directory, name), 'utf8'))]);
  return Object.fromEntries(await Promise.all(entries));
}

/** Why the role of the connection cannot run the statement, or undefined. Nothing is run. */
export async function whyNotRun(client: Client, text: string): Promise<string | undefined> {
  const numbers = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
  const values = Array.from({ length: Math.max(0, ...numbers) }, () => 'NULL').join();
  // EXPLAIN (GENERIC_PLAN) says the same in one statement, from PostgreSQL 16 on.
  try {
    await client.query('SET plan_cache_mode = force_generic_plan');
    await client.query(`PREPARE explained AS ${text}`);
    await client.query(`EXPLAIN EXECUTE explained${values && `(${values})`}`);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await client.query('DEALLOCATE ALL');
  }
}

export async function recordStatement(
  owner: Client,
  service: Client,
  statement: Pick<Statement<never, unknown>, 'name' | 'text' | 'parameterNames'>,
): Promise<RecordedStatement> {
  const { parameters, columns } = await describeStatement(owner, statement);
  return {
    text: statement.text,
    isForService: (await whyNotRun(service, statement.text)) === undefined,
    parameters: parameters.map(({ name, type }) => `${name} ${type}`),
    columns: columns.map(
      ({ name, type, isNullable }) => `${name} ${type}${isNullable === false ? ' not null' : ''}`,
    ),
  };
}

export async function requestLogColumns({
  client,
  database,
}: TestTelemetry): Promise<Record<string, string>> {
  const answer = await client.query({
    query: `SELECT name, type FROM system.columns WHERE database = {database:String} AND table = 'request_log'`,
    query_params: { database },
    format: 'JSONEachRow',
  });
  const rows = await answer.json<{ name: string; type: string }>();
  return Object.fromEntries(rows.map(({ name, type }) => [name, type]));
}

/** The needs of this version, described by databases that it has migrated. Needs the servers of a test run. */
export async function recordRelease(): Promise<ReleaseRecord> {
  await using test: TestDatabase = await createTestDatabase();
  await using telemetry = await createTestTelemetry();
  const [owner, service] = [await test.owner.connect(), await test.database.connect()];
  try {
    const statements: [string, RecordedStatement][] = [];
    for (const statement of await loadStatements())
      statements.push([statement.name, await recordStatement(owner, service, statement)]);
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const schema = await readFile(join(root, 'store/src/postgres/schema.sql'), 'utf8');
    const id = '00000000-0000-4000-8000-000000000001';
    return {
      version,
      steps: await checksums('migrations/*.sql'),
      files: { ...(await checksums('functions/*.sql')), ...(await checksums('grants.sql')) },
      schema: schema.split('\n').filter((line) => line !== ''),
      statements: Object.fromEntries(statements.sort(([one], [other]) => (one < other ? -1 : 1))),
      requestLog: await requestLogColumns(telemetry),
      journal: {
        format: JOURNAL_FORMAT,
        line: encodeLine(
          finished({ organizationId: id, projectId: id, keyIds: [id] }, { requestId: id as never }),
        ),
      },
      redisScripts: Object.fromEntries(
        Object.entries(rateScripts).map(([name, script]) => [name, hash(script)]),
      ),
    };
  } finally {
    await Promise.all([owner.end(), service.end()]);
  }
}
