import { randomUUID } from 'node:crypto';
import { type Database, openDatabase } from '../postgres/database.ts';
import { migratePostgres } from '../postgres/migrate.ts';
import { readSchemaAt } from '../postgres/schema-files.ts';
import { type ServerAddress, TEST_TIMEOUTS, withAdmin } from './test-database.ts';
import { testServers } from './test-servers.ts';

/** A database as an older version left it; dropped when disposed. */
export interface DatabaseAtStep extends AsyncDisposable {
  /** With every right. */
  readonly owner: Database;
  readonly address: ServerAddress & { readonly database: string };
  /** Runs one or more statements as the owner. Rows are as the driver returns them. */
  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** A new database, migrated up to and including this step. */
export async function createDatabaseAtStep(number: number): Promise<DatabaseAtStep> {
  const server = (await testServers()).postgres;
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withAdmin(server, (client) => client.query(`CREATE DATABASE ${name}`));
  const address = { ...server, database: name };
  const owner = openDatabase(address, { poolSize: 2, timeouts: TEST_TIMEOUTS });
  await migratePostgres(owner, { schema: await readSchemaAt(number), serviceMayLogIn: true });
  const client = await owner.connect();
  return {
    owner,
    address,
    async query<Row extends object>(sql: string, values?: readonly unknown[]) {
      return (await client.query<Row>(sql, values && [...values])).rows;
    },
    async [Symbol.asyncDispose]() {
      await client.end();
      await owner[Symbol.asyncDispose]();
      await withAdmin(server, (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}
