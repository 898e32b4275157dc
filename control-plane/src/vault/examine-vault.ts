import { type Database, type KeyRing, openRecord, type SealedRecord, VaultTampered } from '@gatehouse/store';
import * as queries from './queries.ts';

/** The result of opening every record of the vault with the available master keys. */
export interface VaultExamination {
  readonly records: number;
  /** The records that do not open, and why. */
  readonly unreadable: readonly {
    readonly organizationId: string;
    readonly provider: string;
    readonly reason: string;
  }[];
}

/** Opens every record of the vault once, without keeping its contents. Read-only. */
export async function examineVault(database: Database, keyRing: KeyRing): Promise<VaultExamination> {
  await using snapshot = await database.snapshot();
  const records = await snapshot.many(queries.listRecords);
  const unreadable = [];
  for (const record of records) {
    const reason = await reasonUnreadable(record, keyRing);
    if (reason === undefined) continue;
    unreadable.push({ organizationId: record.organizationId, provider: record.provider, reason });
  }
  return { records: records.length, unreadable };
}

async function reasonUnreadable(record: SealedRecord, keyRing: KeyRing): Promise<string | undefined> {
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
