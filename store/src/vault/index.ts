export {
  checkCanary,
  MAX_WRAPS,
  openRecord,
  type RecordPlace,
  rewrapRecord,
  type SealedRecord,
  sealCanary,
  sealRecord,
} from './envelope.ts';
export { createKeyRing, fixedKeyRing, type KeyRing, type KeyRingOptions } from './key-ring.ts';
export { MASTER_KEY_IN_WORDS, MasterKey } from './master-key.ts';
export { VaultTampered } from './seal.ts';
