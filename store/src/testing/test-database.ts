import { createHash, randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { type Database, openDatabase, type PostgresAddress } from '../postgres/database.ts';
import { migratePostgres } from '../postgres/migrate.ts';
import { SERVICE_ROLE } from '../postgres/roles.ts';
import { readSchema } from '../postgres/schema-files.ts';
import { testServers } from './test-servers.ts';

/** A fresh, migrated database of its own for one test file; dropped when disposed. */
export interface TestDatabase extends AsyncDisposable {
  /** With the rights of the service's role. */
  readonly database: Database;
  /** As the owner, with every right. */
  readonly owner: Database;
  /** Signs in as the owner. */
  readonly address: ServerAddress & { readonly database: string };
}

export type ServerAddress = Exclude<PostgresAddress, { url: string }>;

// An arbitrary advisory lock id. It keeps two test files from building the template at the same time.
const TEMPLATE_LOCK = 7_215_534_102;
const SHARED_FILES_LOCK = 7_215_534_103;
// Many files share two processors, and a statement that a test blocks must not time out before the test releases it.
export const TEST_TIMEOUTS = { connectionMs: 60_000, lockMs: 60_000, statementMs: 60_000 };

/**
 * Clones the migrated template, which is built at the first call and after every change of the schema. Its timeouts are far
 * longer than the service's, unless `timeouts` is set.
 */
export async function createTestDatabase(timeouts = TEST_TIMEOUTS): Promise<TestDatabase> {
  const server = (await testServers()).postgres;
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withAdmin(server, async (client) => {
    await client.query(`SELECT pg_advisory_lock(${TEMPLATE_LOCK})`);
    const template = await ensureTemplate(server, client);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  });
  const address = { ...server, database: name };
  const options = { applicationName: 'gatehouse tests', timeouts };
  const database = openDatabase({ ...address, user: SERVICE_ROLE }, options);
  const owner = openDatabase(address, { ...options, poolSize: 2 });
  return {
    database,
    owner,
    address,
    async [Symbol.asyncDispose]() {
      await Promise.all([database[Symbol.asyncDispose](), owner[Symbol.asyncDispose]()]);
      await withAdmin(server, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

/** Does the work while no other process of the test run does any under this lock. */
export async function withTestLock<T>(work: () => Promise<T>): Promise<T> {
  const server = (await testServers()).postgres;
  return withAdmin(server, async (client) => {
    await client.query(`SELECT pg_advisory_lock(${SHARED_FILES_LOCK})`);
    return work();
  });
}

async function ensureTemplate(server: PostgresServer, client: Client): Promise<string> {
  const { steps, files } = await readSchema();
  const digest = createHash('sha256').update([...steps, ...files].map(({ checksum }) => checksum).join());
  const template = `template_${steps.length}_${digest.digest('hex').slice(0, 32)}`;
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1 AND datistemplate', [
    template,
  ]);
  if (rowCount) return template;
  await client.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${template}`);
  {
    await using database = openDatabase(
      { ...server, database: template },
      { poolSize: 1, timeouts: TEST_TIMEOUTS },
    );
    await migratePostgres(database, { serviceMayLogIn: true });
  }
  // Marked last, so that an interrupted migration leaves no template.
  await client.query(`ALTER DATABASE ${template} IS_TEMPLATE true`);
  return template;
}

export type PostgresServer = { readonly host: string; readonly port: number; readonly user: string };

export async function withAdmin<T>(server: PostgresServer, work: (client: Client) => Promise<T>): Promise<T> {
  await using database = openDatabase(
    { ...server, database: 'postgres' },
    { poolSize: 1, timeouts: TEST_TIMEOUTS },
  );
  const client = await database.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
