import type { OrganizationId } from '@gatehouse/contract';
import {
  type Database,
  type KeyRing,
  type MasterKey,
  rewrapRecord,
  type SealedRecord,
  sealCanary,
  type Transaction,
  VaultTampered,
} from '@gatehouse/store';
import { requireKey, VaultError } from './open-vault.ts';
import * as queries from './queries.ts';

/*
 * A rotation moves every record to a new master key while the service runs. First the new key becomes current: from then
 * on, members' keys are sealed under it. Then the remaining records are rewrapped in batches. When none is left, the old
 * master key is deleted, which the database itself prevents while a record refers to it.
 *
 * Each step is one transaction that leaves the vault consistent, and the records show what remains. So a rotation that
 * was interrupted at any point is completed by running it again.
 */

const BATCH_SIZE = 200;
const LOCK_TIMEOUT_MS = 5_000;

/** A record that could not be moved to the new key and is unchanged. */
export interface SkippedRecord {
  readonly organizationId: OrganizationId;
  readonly provider: string;
  readonly reason: string;
}

export interface Rotation {
  readonly masterKeyId: string;
  /** Moved to the new key by this run; an interrupted earlier run may have moved others. */
  readonly rewrapped: number;
  /** The number of records at the end. */
  readonly records: number;
  readonly skipped: readonly SkippedRecord[];
}

export interface RotateOptions {
  readonly database: Database;
  /** Has the old key and the new one. */
  readonly keyRing: KeyRing;
  readonly newKey: MasterKey;
  readonly batchSize?: number;
  /** Called after each batch with the number of records moved so far. */
  readonly onProgress?: (rewrapped: number) => void;
}

/** @throws VaultError when the old key is missing or another rotation is running; nothing is changed then */
export async function rotateVault({
  database,
  keyRing,
  newKey,
  batchSize = BATCH_SIZE,
  onProgress,
}: RotateOptions): Promise<Rotation> {
  const lock = await database.connect();
  try {
    await lock.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await lock.query(queries.ROTATION_LOCK).catch((error: Error & { code?: string }) => {
      if (error.code !== '55P03') throw error;
      throw new VaultError('another rotation is running');
    });
    await makeCurrent(database, keyRing, newKey);

    let rewrapped = 0;
    const skipped: SkippedRecord[] = [];
    for (const table of queries.RECORD_TABLES) {
      for (let after: queries.RotationCursor | undefined; ; ) {
        const batch = await rewrapBatch({ database, keyRing, newKey, table, after, batchSize });
        rewrapped += batch.rewrapped;
        skipped.push(...batch.skipped);
        if (!batch.last) break;
        after = batch.last;
        onProgress?.(rewrapped);
      }
    }

    const records = await finish(database, newKey);
    return { masterKeyId: newKey.id, rewrapped, records, skipped };
  } finally {
    await lock.end();
  }
}

async function makeCurrent(database: Database, keyRing: KeyRing, newKey: MasterKey): Promise<void> {
  const before = await database.one(queries.findCurrentKey);
  if (!before) throw new VaultError('the vault was never opened: start the service once');
  // Without the current key, the existing records could not be moved.
  requireKey(await keyRing.find(before.id), before, newKey);
  if (before.id === newKey.id) return;
  await database.transaction(async (tx) => {
    await tx.run(queries.lockCurrentKey);
    if ((await tx.run(queries.retireCurrentKey, { id: before.id })) !== 1) {
      throw new VaultError('another process changed the current master key');
    }
    await tx.run(queries.makeCurrentKey, { id: newKey.id, canary: sealCanary(newKey) });
  });
}

interface Batch {
  readonly rewrapped: number;
  readonly skipped: readonly SkippedRecord[];
  /** The cursor for the next batch; undefined when this one was empty. */
  readonly last: queries.RotationCursor | undefined;
}

type RecordTable = (typeof queries.RECORD_TABLES)[number];

interface BatchOptions {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly newKey: MasterKey;
  readonly table: RecordTable;
  readonly after: queries.RotationCursor | undefined;
  readonly batchSize: number;
}

function rewrapBatch({ database, keyRing, newKey, table, after, batchSize }: BatchOptions): Promise<Batch> {
  return database.transaction(async (tx) => {
    const records = await tx.many(table.lockBehind, {
      masterKeyId: newKey.id,
      afterOrganizationId: after?.organizationId ?? null,
      afterProvider: after?.provider ?? null,
      limit: batchSize,
    });
    const skipped: SkippedRecord[] = [];
    const done: queries.RecordRow[] = [];
    for (const record of records) {
      const { organizationId, provider } = record;
      const result = await rewrapped(keyRing, newKey, record);
      if (typeof result === 'string') skipped.push({ organizationId, provider, reason: result });
      else done.push({ ...result, organizationId });
    }
    if (done.length > 0) await write(tx, table, newKey, done);
    return { rewrapped: done.length, skipped, last: records.at(-1) };
  });
}

/** The record under the new key, or why it cannot be moved. */
async function rewrapped(
  keyRing: KeyRing,
  newKey: MasterKey,
  record: SealedRecord,
): Promise<SealedRecord | string> {
  const from = await keyRing.find(record.masterKeyId);
  if (!from) return `it is under the master key with the id ${record.masterKeyId}, which is not at hand`;
  try {
    return rewrapRecord(from, newKey, record);
  } catch (error) {
    if (!(error instanceof VaultTampered)) throw error;
    return `it is not as it was sealed (${error.message})`;
  }
}

async function write(
  tx: Transaction,
  table: RecordTable,
  newKey: MasterKey,
  records: readonly queries.RecordRow[],
): Promise<void> {
  const organizationIds = records.map(({ organizationId }) => organizationId);
  await tx.run(table.updateWraps, {
    organizationIds,
    providers: records.map(({ provider }) => provider),
    wrappedKeys: records.map(({ wrappedKey }) => wrappedKey),
    masterKeyId: newKey.id,
  });
  await tx.many(queries.countWraps, { organizationIds, masterKeyId: newKey.id });
}

/** Deletes master keys that no record uses. Returns the number of records. */
function finish(database: Database, newKey: MasterKey): Promise<number> {
  return database.transaction(async (tx) => {
    const counted = await tx.one(queries.countBehind, { masterKeyId: newKey.id });
    if (counted?.behind === 0n) {
      await tx.run(queries.deleteOldWraps, { masterKeyId: newKey.id });
      await tx.run(queries.deleteRetiredKeys);
    }
    return Number(counted?.records ?? 0n);
  });
}
