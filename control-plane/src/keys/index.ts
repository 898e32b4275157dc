export { openKeyChanges } from './change-keys.ts';
export { createKey } from './create-key.ts';
export { listKeys } from './list-keys.ts';
export { findOwnedKey, findOwnedProject, type Owned } from './ownership.ts';
export { revokeKey } from './revoke-key.ts';
export { listRevokedKeys, type RevokedKey, revokeKeysAgain } from './revoked/revoked-keys.ts';
export { sweepIdempotencyKeys } from './sweep.ts';
export { updateKey } from './update-key.ts';
