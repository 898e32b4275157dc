import type { OrganizationId } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { lockOrganization } from '../../organization/index.ts';
import type { Owned } from '../../tenant-statement.ts';
import * as queries from './queries.ts';

/** Activity entries of a statement, each of which takes half a millisecond: well within its time limit. */
const ENTRIES_AT_ONCE = 500;

/** A key that another gateway made. Its secret stays what it is, and only the hash of it is known here. */
export interface ImportedKey {
  /** The line that it stands on, which a fault names. */
  readonly line: number;
  readonly name: string;
  /** The part that may be shown. */
  readonly keyPrefix: string;
  /** SHA-256 of the secret, in lower-case hexadecimal. */
  readonly hash: string;
  readonly rateLimitRpm: number;
  /** ISO 8601 with an offset. */
  readonly expiresAt: string | null;
  readonly creditLimitMicroPkr: bigint | null;
  /** Ids or aliases of routes; null: all. */
  readonly models: readonly string[] | null;
}

/** Why a key cannot be imported. */
export interface ImportFault {
  readonly line: number;
  readonly what: string;
}

export interface Import {
  readonly organizationId: OrganizationId;
  readonly projectId: Owned<'project'>;
  readonly keys: readonly ImportedKey[];
  /** How many keys that are not revoked the organisation may have. */
  readonly maxKeys: number;
  readonly sourceIp: string;
}

/** Imports all keys, or none where it returns faults; the caller must fail the transaction then. An activity entry each. */
export async function importKeys(
  tx: Transaction,
  { organizationId, projectId, keys, maxKeys, sourceIp }: Import,
): Promise<readonly ImportFault[]> {
  await lockOrganization(tx, organizationId);
  const live = Number((await tx.one(queries.countLiveKeys, { organizationId }))?.keys ?? 0n);
  if (live + keys.length > maxKeys) {
    const what = `the organisation has ${live} keys, and may have ${maxKeys} (KEYS_PER_ORGANIZATION): ${keys.length} more do not fit`;
    return [{ line: keys[0]?.line ?? 1, what }];
  }
  const hashes = keys.map(({ hash }) => Buffer.from(hash, 'hex'));
  const taken = new Set((await tx.many(queries.listTakenHashes, { hashes })).map(({ hash }) => hash));
  const names = [...new Set(keys.flatMap(({ models }) => models ?? []))];
  const routeOf = new Map(
    (await tx.many(queries.listRoutesByName, { names })).map(({ name, routeId }) => [name, routeId]),
  );
  const faults = keys.flatMap(({ line, hash, models }): ImportFault[] => {
    const unknown = (models ?? []).filter((model) => !routeOf.has(model));
    return [
      ...(taken.has(hash) ? [{ line, what: 'a key with this secret exists already' }] : []),
      ...(unknown.length > 0
        ? [{ line, what: `the catalogue has no active route or alias ${unknown.join(', ')}` }]
        : []),
    ];
  });
  if (faults.length > 0) return faults;
  const rows = keys.map(({ models, creditLimitMicroPkr, line: _, ...key }) => ({
    ...key,
    creditLimitMicroPkr: creditLimitMicroPkr === null ? null : String(creditLimitMicroPkr),
    allowedModels: models && [...new Set(models.map((model) => routeOf.get(model) ?? model))],
  }));
  await tx.run(queries.insertKeys, { organizationId, projectId, keys: JSON.stringify(rows) });
  for (let first = 0; first < keys.length; first += ENTRIES_AT_ONCE) {
    const prefixes = keys.slice(first, first + ENTRIES_AT_ONCE).map(({ keyPrefix }) => keyPrefix);
    await tx.run(queries.appendCreations, { organizationId, prefixes, sourceIp });
  }
  return [];
}
