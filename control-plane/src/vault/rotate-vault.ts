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
 * A rotation puts every record under a new master key while the service goes on. First the new key becomes the
 * current one: from then on, what members store is sealed under it. Then the records that are behind are wrapped anew,
 * a batch at a time. When none is left, the old key is taken off the list, which the database itself refuses while a
 * record refers to it.
 *
 * Each of these is one transaction that leaves the vault whole, and what is left to do can be seen from the records.
 * So a rotation that was cut off at any point is finished by running it again.
 */

const BATCH = 200;
const LOCK_PATIENCE_MS = 5_000;

/** A record that could not be put under the new key, and stays as it is. */
export interface LeftBehind {
  readonly organizationId: string;
  readonly provider: string;
  readonly reason: string;
}

export interface Rotation {
  readonly masterKeyId: string;
  /** Put under the new key now; others may have been before. */
  readonly rewrapped: number;
  /** All there are, at the end. */
  readonly records: number;
  readonly leftBehind: readonly LeftBehind[];
}

export interface RotateOptions {
  readonly database: Database;
  /** Both keys. */
  readonly keyRing: KeyRing;
  readonly newKey: MasterKey;
  readonly batchSize?: number;
  /** Told after each batch how many there were so far. */
  readonly onProgress?: (rewrapped: number) => void;
}

/** Throws VaultError, and has changed nothing, when the old key is missing or another rotation is under way. */
export async function rotateVault({
  database,
  keyRing,
  newKey,
  batchSize = BATCH,
  onProgress,
}: RotateOptions): Promise<Rotation> {
  const lock = await database.connect();
  try {
    await lock.query(`SET lock_timeout = ${LOCK_PATIENCE_MS}`);
    await lock.query(queries.ROTATION_LOCK).catch((error: Error & { code?: string }) => {
      if (error.code !== '55P03') throw error;
      throw new VaultError('another rotation is under way');
    });
    await makeCurrent(database, keyRing, newKey);

    let rewrapped = 0;
    const leftBehind: LeftBehind[] = [];
    for (let after: queries.Position | undefined; ; ) {
      const batch = await rewrapBatch(database, keyRing, newKey, after, batchSize);
      rewrapped += batch.rewrapped;
      leftBehind.push(...batch.leftBehind);
      if (!batch.last) break;
      after = batch.last;
      onProgress?.(rewrapped);
    }

    const records = await finish(database, newKey);
    return { masterKeyId: newKey.id, rewrapped, records, leftBehind };
  } finally {
    await lock.end();
  }
}

async function makeCurrent(database: Database, keyRing: KeyRing, newKey: MasterKey): Promise<void> {
  const before = await database.one(queries.findCurrentKey);
  if (!before) throw new VaultError('the vault was never opened: start the service once');
  // Whoever cannot read what there is must not decide what comes next.
  requireKey(await keyRing.find(before.id), before, newKey);
  if (before.id === newKey.id) return;
  await database.transaction(async (tx) => {
    await tx.run(queries.lockCurrentKey);
    if ((await tx.run(queries.retireCurrentKey, [before.id])) !== 1) {
      throw new VaultError('the current master key was changed by somebody else');
    }
    await tx.run(queries.makeCurrentKey, [newKey.id, sealCanary(newKey)]);
  });
}

interface Batch {
  readonly rewrapped: number;
  readonly leftBehind: readonly LeftBehind[];
  /** Where the next one begins; undefined when there was nothing. */
  readonly last: queries.Position | undefined;
}

function rewrapBatch(
  database: Database,
  keyRing: KeyRing,
  newKey: MasterKey,
  after: queries.Position | undefined,
  batchSize: number,
): Promise<Batch> {
  return database.transaction(async (tx) => {
    const records = await tx.many(queries.lockRecordsBehind, [
      newKey.id,
      after?.organizationId ?? null,
      after?.provider ?? null,
      batchSize,
    ]);
    const leftBehind: LeftBehind[] = [];
    const done: SealedRecord[] = [];
    for (const record of records) {
      const { organizationId, provider } = record;
      const result = await rewrapped(keyRing, newKey, record);
      if (typeof result === 'string') leftBehind.push({ organizationId, provider, reason: result });
      else done.push(result);
    }
    if (done.length > 0) await write(tx, newKey, done);
    return { rewrapped: done.length, leftBehind, last: records.at(-1) };
  });
}

/** The record under the new key, or why it cannot be. */
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

async function write(tx: Transaction, newKey: MasterKey, records: readonly SealedRecord[]): Promise<void> {
  const organizationIds = records.map(({ organizationId }) => organizationId);
  await tx.run(queries.updateWraps, [
    organizationIds,
    records.map(({ provider }) => provider),
    records.map(({ wrappedKey }) => wrappedKey),
    newKey.id,
  ]);
  await tx.many(queries.countWraps, [organizationIds, newKey.id]);
}

/** Takes off the list what nothing is under any more. Returns how many records there are. */
function finish(database: Database, newKey: MasterKey): Promise<number> {
  return database.transaction(async (tx) => {
    const counted = await tx.one(queries.countBehind, [newKey.id]);
    if (counted?.behind === 0n) {
      await tx.run(queries.deleteOldWraps, [newKey.id]);
      await tx.run(queries.deleteRetiredKeys);
    }
    return Number(counted?.records ?? 0n);
  });
}
