export { createKey } from './create-key.ts';
export { listKeys } from './list-keys.ts';
export { findOwnedKey, findOwnedProject, type Owned } from './ownership.ts';
export { revokeKey } from './revoke-key.ts';
export { sweepIdempotencyKeys } from './sweep.ts';
