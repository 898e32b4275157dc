import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import {
  DatabaseUnavailable,
  duePostgresMigrations,
  migratePostgres,
  type NoParameters,
  openDatabase,
  SERVICE_ROLE,
  sql,
  statement,
} from '@gatehouse/store';
import { findPrograms, startPair } from './postgres-pair.ts';

const raise = statement<NoParameters>(
  'test-pair-write',
  sql`UPDATE catalogue_version SET version = version + 1`,
);
const read = statement<NoParameters, { version: bigint }>(
  'test-pair-read',
  sql`SELECT version FROM catalogue_version`,
);

const programs = await findPrograms();

it("the oldest supported version: Debian's has the schema, and a standby that takes over has what was acknowledged", {
  skip: programs === undefined && 'the PostgreSQL of Debian is not installed',
}, async () => {
  if (programs === undefined) return;
  await using stack = new AsyncDisposableStack();
  const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-pair-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  await chmod(directory, 0o755);
  const pair = stack.use(await startPair(programs, directory));
  const address = { url: pair.url };
  await using owner = openDatabase(address, { poolSize: 1 });
  await migratePostgres(owner);
  assert.deepEqual(await duePostgresMigrations(owner), []);
  await using service = openDatabase(address, { poolSize: 2, role: SERVICE_ROLE });
  await using writer = openDatabase(address, { poolSize: 1 });
  await writer.run(raise);
  const before = await service.one(read);
  await pair.killPrimary();
  await assert.rejects(writer.run(raise), DatabaseUnavailable);
  await pair.promote();
  // At most the first statement finds the connection that has ended.
  await writer.run(raise).catch((error) => assert.ok(error instanceof DatabaseUnavailable));
  const between = await service.one(read).catch(() => service.one(read));
  await writer.run(raise);
  const after = await service.one(read);
  assert.ok(between !== undefined && before !== undefined && after !== undefined);
  assert.ok(between.version >= before.version);
  assert.equal(after.version, between.version + 1n);
});
