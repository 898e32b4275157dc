import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { type Database, openDatabase, type PostgresAddress } from '../postgres/database.ts';
import { migratePostgres, readMigrations } from '../postgres/migrate.ts';
import { SERVICE_ROLE } from '../postgres/roles.ts';
import { testServers } from './test-servers.ts';

/** A fresh, migrated database of its own for one test file; dropped when disposed. */
export interface TestDatabase extends AsyncDisposable {
  /** As the service uses it: with the rights of its role. */
  readonly database: Database;
  /** As an operator uses it: with every right. */
  readonly owner: Database;
  /** Whoever signs in here is the owner. */
  readonly address: ServerAddress & { readonly database: string };
}

type ServerAddress = Exclude<PostgresAddress, { url: string }>;

// Any constant will do; it keeps two test files from building the template at once.
const TEMPLATE_LOCK = 7_215_534_102;
// Many files share two processors, and what a test holds back must not give up before the test lets go of it.
const TIMEOUTS = { connectionMs: 60_000, lockMs: 60_000, statementMs: 60_000 };

/**
 * Clones the migrated template, which is made at the first call and again whenever a migration changes. Its pools wait
 * far longer than the service's, unless they are told otherwise.
 */
export async function createTestDatabase(timeouts = TIMEOUTS): Promise<TestDatabase> {
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

async function ensureTemplate(server: PostgresServer, client: Client): Promise<string> {
  const steps = await readMigrations();
  const template = `template_${steps.at(-1)?.number ?? 0}_${steps.map((step) => step.checksum.slice(0, 4)).join('')}`;
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1 AND datistemplate', [
    template,
  ]);
  if (rowCount) return template;
  await client.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${template}`);
  {
    await using database = openDatabase(
      { ...server, database: template },
      { poolSize: 1, timeouts: TIMEOUTS },
    );
    await migratePostgres(database, { serviceMayLogIn: true });
  }
  // Marked last, so that a template whose migration was cut short is built again.
  await client.query(`ALTER DATABASE ${template} IS_TEMPLATE true`);
  return template;
}

export type PostgresServer = { readonly host: string; readonly port: number; readonly user: string };

async function withAdmin<T>(server: PostgresServer, work: (client: Client) => Promise<T>): Promise<T> {
  await using database = openDatabase(
    { ...server, database: 'postgres' },
    { poolSize: 1, timeouts: TIMEOUTS },
  );
  const client = await database.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
