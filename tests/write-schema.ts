import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestDatabase, dumpSchema } from '@gatehouse/store/testing';
import { startTestServers } from './servers.ts';

/** Writes `schema.sql` from a database that was migrated just now; store/src/postgres/schema.test.ts fails while it is stale. */
export async function writeSchema(): Promise<string> {
  await using _ = await startTestServers();
  await using test = await createTestDatabase();
  const path = 'store/src/postgres/schema.sql';
  const client = await test.owner.connect();
  try {
    await writeFile(join(import.meta.dirname, '..', path), await dumpSchema(client));
  } finally {
    await client.end();
  }
  return path;
}
