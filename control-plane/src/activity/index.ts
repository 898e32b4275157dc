export { type Anchor, AnchorsError, readAnchors } from './anchors.ts';
export { listActivity } from './list-activity.ts';
export { type Purge, purgeActivity } from './purge-activity.ts';
export { recordsFrom } from './record.ts';
export { type Verification, type VerifyOptions, verifyActivity } from './verify-activity.ts';
