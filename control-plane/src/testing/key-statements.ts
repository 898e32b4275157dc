import { findSession } from '../auth/index.ts';
import { insertKey } from '../keys/insert-key.ts';
import * as keys from '../keys/queries.ts';
import { lockOrganization } from '../organization/index.ts';

export { recordsFrom } from '../activity/index.ts';

/** The statements of requests on keys, to measure them without HTTP. */
export const keyStatements = { ...keys, insertKey, findSession, lockOrganization };
