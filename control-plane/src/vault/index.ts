import type { Implementation } from '../http/implement.ts';
import { listVaultKeys } from './list-vault-keys.ts';
import { revokeVaultKey } from './revoke-vault-key.ts';
import type { VaultDependencies } from './seal-secret.ts';
import { setVaultKey } from './set-vault-key.ts';

export { examineVault, type VaultExamination } from './examine-vault.ts';
export { findVaultKeyId, openVault, VaultError } from './open-vault.ts';
export { channelProvider } from './queries.ts';
export { type RotateOptions, type Rotation, rotateVault, type SkippedRecord } from './rotate-vault.ts';
export {
  countWrap,
  loadCurrentKey,
  type Sealing,
  sealSecret,
  type VaultDependencies,
} from './seal-secret.ts';

export function vaultEndpoints(dependencies: VaultDependencies): Implementation[] {
  const { database } = dependencies;
  return [setVaultKey(dependencies), listVaultKeys(database), revokeVaultKey(database)];
}
