import type { OrganizationId, TokenHash } from '@gatehouse/contract';
import type { SealedRecord } from '@gatehouse/store';
import { LRUCache } from 'lru-cache';
import type { ReadKey, ReadRoute, ReadVault } from './queries.ts';
import type { Route } from './route.ts';

// What was read before, each with the version of its source at that moment. It saves a request the reading, not the
// asking: a request that is prepared with presumed facts is admitted only by a statement that finds these versions
// unchanged (functions/admit.sql), and it is refused only on facts that were read for it. So presumption is no
// permission. Guarded by presumed-facts.http.test.ts.
//
// Only what exists is kept, and no secret: a key by the hash of its secret, a provider key as the vault sealed it.

// In bytes, of keys, of routes and of vaults each: 20,000 keys without a list of models.
const LIMIT = { maxSize: 8 * 1024 ** 2 };

// About what an entry takes beside its texts.
const ENTRY_BYTES = 400;

/** The organisation's own keys for providers, sealed, by the provider's name. */
type Records = ReadonlyMap<string, SealedRecord>;

const NO_RECORDS: Records = new Map();

interface Vault {
  readonly vaultRevision: bigint;
  /** Undefined until they are read at this revision. */
  readonly records: Records | undefined;
}

export class Facts {
  readonly #keys = new LRUCache<string, ReadKey>(LIMIT);
  readonly #routes = new LRUCache<string, ReadRoute>(LIMIT);
  readonly #vaults = new LRUCache<string, Vault>(LIMIT);
  #catalogueVersion = 0n;

  /** A key as it was read last, where everything that it was read with is still the newest that is known. */
  presumedKey(hash: TokenHash): ReadKey | undefined {
    const read = this.#keys.get(nameOf(hash));
    if (!read) return undefined;
    const vault = this.#vaults.get(read.key.organizationId);
    if (vault?.vaultRevision !== read.vaultRevision) return undefined;
    return { ...read, catalogueVersion: this.#catalogueVersion };
  }

  /** Keeps what was read; undefined where no such key is there. A key that was read by its previous secret is read again each time. */
  keepKey(hash: TokenHash, read: ReadKey | undefined): void {
    if (!read || read.isPrevious) {
      this.#keys.delete(nameOf(hash));
      return;
    }
    const { organizationId, allowedModels } = read.key;
    const models = allowedModels?.reduce((sum, model) => sum + ENTRY_BYTES / 4 + model.length, 0) ?? 0;
    this.#keys.set(nameOf(hash), read, { size: ENTRY_BYTES + models });
    this.#sawVersion(read.catalogueVersion);
    const known = this.#vaults.get(organizationId);
    if (known?.vaultRevision === read.vaultRevision) return;
    // An organisation that never stored a key has no records to read.
    const records = read.vaultRevision === 0n ? NO_RECORDS : undefined;
    this.#keepVault(organizationId, { vaultRevision: read.vaultRevision, records });
  }

  /** The route behind a name, as it was at this version of the catalogue. */
  route(name: string, catalogueVersion: bigint): ReadRoute | undefined {
    const read = this.#routes.get(name);
    return read?.catalogueVersion === catalogueVersion ? read : undefined;
  }

  keepRoute(name: string, read: ReadRoute): void {
    this.#routes.set(name, read, { size: ENTRY_BYTES + bytesOf(read.route) });
    this.#sawVersion(read.catalogueVersion);
  }

  /** The organisation's stored keys, as they were at this revision. */
  vault(organizationId: OrganizationId, vaultRevision: bigint): ReadVault | undefined {
    const vault = this.#vaults.get(organizationId);
    return vault?.records && vault.vaultRevision === vaultRevision
      ? { vaultRevision, records: vault.records }
      : undefined;
  }

  keepVault(organizationId: OrganizationId, read: ReadVault): void {
    this.#keepVault(organizationId, read);
  }

  /** How many entries there are. */
  get size(): number {
    return this.#keys.size + this.#routes.size + this.#vaults.size;
  }

  #keepVault(organizationId: OrganizationId, vault: Vault): void {
    let bytes = ENTRY_BYTES;
    for (const { sealedKey, wrappedKey } of vault.records?.values() ?? []) {
      bytes += ENTRY_BYTES + sealedKey.length + wrappedKey.length;
    }
    this.#vaults.set(organizationId, vault, { size: bytes });
  }

  // An answer may come late: the version that is known never goes back.
  #sawVersion(version: bigint): void {
    if (version > this.#catalogueVersion) this.#catalogueVersion = version;
  }
}

function nameOf(hash: TokenHash): string {
  return hash.toString('latin1');
}

function bytesOf(route: Route): number {
  const text = JSON.stringify(route, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    return value instanceof Map ? [...value] : value;
  });
  return 4 * text.length;
}
