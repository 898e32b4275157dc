import { findSession } from '../auth/index.ts';
import * as keys from '../keys/queries.ts';

export { recordsFrom } from '../activity/index.ts';

/** The statements that requests about keys send, for a measurement without what is around them. */
export const keyStatements = { ...keys, findSession };
