import type { RequestId } from '@gatehouse/contract';
import { type KeyRing, openRecord, type SealedRecord, VaultTampered } from '@gatehouse/store';
import type { Logger } from 'pino';
import { serviceUnavailableBecause } from '../errors/gateway-error.ts';
import { upstreamNotConfigured } from '../errors/upstream-errors.ts';

/**
 * The organisation's own key for the provider. Where it cannot be had, the request fails and goes nowhere: 502 for a
 * record that is not as it was sealed, 503 for one under a master key that this process does not have. Never is the
 * platform's key taken instead, at the organisation's cost and without its knowing. Guarded by byok-closed.http.test.ts.
 */
export async function openVaultKey(
  requestId: RequestId,
  record: SealedRecord,
  { keyRing, log }: { readonly keyRing: KeyRing; readonly log: Pick<Logger, 'error'> },
): Promise<string> {
  const { provider } = record;
  const about = {
    request_id: requestId,
    organization_id: record.organizationId,
    provider,
    master_key_id: record.masterKeyId,
  };
  const masterKey = await keyRing.find(record.masterKeyId);
  if (!masterKey) {
    log.error(
      { event: 'vault.master_key_missing', ...about },
      'stored provider key is under a master key that this process does not have',
    );
    throw serviceUnavailableBecause('the master key of a stored provider key is missing');
  }
  try {
    return openRecord(masterKey, record);
  } catch (error) {
    if (!(error instanceof VaultTampered)) throw error;
    log.error(
      { event: 'vault.record_tampered', ...about, reason: error.message },
      'stored provider key was changed after it was sealed; not used',
    );
    throw upstreamNotConfigured(
      `Your organization's stored key for the provider ${provider} cannot be used: store it again, or remove it from the vault.`,
    );
  }
}
