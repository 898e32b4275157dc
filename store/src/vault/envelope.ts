import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { MasterKey } from './master-key.ts';
import { bindingOf, seal, unseal, VaultTampered } from './seal.ts';

/*
 * Envelope encryption of provider keys. Each record has its own data key, which encrypts ("seals") one provider key once.
 * The data key is encrypted ("wrapped") under the organisation's key, which is derived from the master key and never
 * stored. Changing the master key therefore rewraps the data keys and leaves the sealed provider keys untouched. A key
 * wrapped for one organisation cannot be opened for another.
 *
 * Both ciphertexts are bound to the organisation, the provider and the record's version, the wrapped key to the master
 * key's id as well. A row that was swapped, moved or altered in the database fails to open.
 *
 * An organisation's key wraps with random nonces, so its uses are counted and end at MAX_WRAPS: half of the 2^32 that
 * NIST SP 800-38D allows for random nonces. See docs/decisions/0017.
 */

export const MAX_WRAPS = 2n ** 31n;

const DATA_KEY_BYTES = 32;

/** Identifies a record. Each replacement of a provider key has the next version. */
export interface RecordPlace {
  readonly organizationId: string;
  readonly provider: string;
  readonly version: bigint;
}

/** A record as it is stored. */
export interface SealedRecord extends RecordPlace {
  readonly masterKeyId: string;
  readonly wrappedKey: Buffer;
  readonly sealedKey: Buffer;
}

export function sealRecord(masterKey: MasterKey, place: RecordPlace, providerKey: string): SealedRecord {
  const dataKey = randomBytes(DATA_KEY_BYTES);
  const sealedKey = seal(dataKey, Buffer.from(providerKey), recordBinding(place));
  return { ...wrapped(masterKey, place, dataKey), sealedKey };
}

/** The provider's key. Throws VaultTampered when the record is not as it was sealed. */
export function openRecord(masterKey: MasterKey, record: SealedRecord): string {
  const dataKey = unwrapped(masterKey, record);
  return unseal(dataKey, record.sealedKey, recordBinding(record), 'the sealed key').toString();
}

/** The same record under another master key. Throws VaultTampered when it does not open under its current one. */
export function rewrapRecord(from: MasterKey, to: MasterKey, record: SealedRecord): SealedRecord {
  const dataKey = unwrapped(from, record);
  // A tampered record must not pass as intact under the new key.
  unseal(dataKey, record.sealedKey, recordBinding(record), 'the sealed key');
  return { ...wrapped(to, record, dataKey), sealedKey: record.sealedKey };
}

function wrapped(
  masterKey: MasterKey,
  { organizationId, provider, version }: RecordPlace,
  dataKey: Buffer,
): Omit<SealedRecord, 'sealedKey'> {
  const place = { organizationId, provider, version };
  const wrappedKey = seal(organizationKey(masterKey, place), dataKey, wrapBinding(place, masterKey.id));
  return { ...place, masterKeyId: masterKey.id, wrappedKey };
}

function unwrapped(masterKey: MasterKey, record: SealedRecord): Buffer {
  const key = organizationKey(masterKey, record);
  const dataKey = unseal(
    key,
    record.wrappedKey,
    wrapBinding(record, record.masterKeyId),
    'the wrapped data key',
  );
  if (dataKey.length !== DATA_KEY_BYTES) throw new VaultTampered('the wrapped data key has the wrong length');
  return dataKey;
}

function organizationKey(masterKey: MasterKey, { organizationId }: RecordPlace): Buffer {
  return masterKey.derive('gatehouse vault organisation key', organizationId);
}

function recordBinding({ organizationId, provider, version }: RecordPlace): Buffer {
  return bindingOf('gatehouse vault provider key 1', organizationId, provider, String(version));
}

function wrapBinding({ organizationId, provider, version }: RecordPlace, masterKeyId: string): Buffer {
  return bindingOf('gatehouse vault data key 1', organizationId, provider, String(version), masterKeyId);
}

const CANARY = Buffer.from('gatehouse vault canary');

/** A known text sealed under the master key. Opening it proves that the key is the right one. */
export function sealCanary(masterKey: MasterKey): Buffer {
  return seal(canaryKey(masterKey), CANARY, canaryBinding(masterKey));
}

/** Throws VaultTampered unless it is the canary of this master key. */
export function checkCanary(masterKey: MasterKey, canary: Buffer): void {
  const text = unseal(canaryKey(masterKey), canary, canaryBinding(masterKey), 'the canary');
  if (text.length !== CANARY.length || !timingSafeEqual(text, CANARY)) {
    throw new VaultTampered('the canary has another text');
  }
}

function canaryKey(masterKey: MasterKey): Buffer {
  return masterKey.derive('gatehouse vault canary key', '');
}

function canaryBinding({ id }: MasterKey): Buffer {
  return bindingOf('gatehouse vault canary 1', id);
}
