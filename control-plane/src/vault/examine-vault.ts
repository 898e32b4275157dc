import { type Database, type KeyRing, openRecord, type SealedRecord, VaultTampered } from '@gatehouse/store';
import * as queries from './queries.ts';

/** What the vault is like under the keys that are at hand. */
export interface VaultExamination {
  readonly records: number;
  /** Those that do not open, and why. */
  readonly sealed: readonly {
    readonly organizationId: string;
    readonly provider: string;
    readonly reason: string;
  }[];
}

/** Opens every record of the vault once, and keeps nothing of it. Changes nothing. */
export async function examineVault(database: Database, keyRing: KeyRing): Promise<VaultExamination> {
  await using snapshot = await database.snapshot();
  const records = await snapshot.many(queries.listRecords);
  const sealed = [];
  for (const record of records) {
    const reason = await reasonItStaysShut(record, keyRing);
    if (reason === undefined) continue;
    sealed.push({ organizationId: record.organizationId, provider: record.provider, reason });
  }
  return { records: records.length, sealed };
}

async function reasonItStaysShut(record: SealedRecord, keyRing: KeyRing): Promise<string | undefined> {
  const masterKey = await keyRing.find(record.masterKeyId);
  if (!masterKey) return `it is under the master key with the id ${record.masterKeyId}, which is not at hand`;
  try {
    openRecord(masterKey, record);
    return undefined;
  } catch (error) {
    if (!(error instanceof VaultTampered)) throw error;
    return `it is not as it was sealed (${error.message})`;
  }
}
