export { tenantStatements } from '../tenant-statement.ts';
export { addRoute } from './add-route.ts';
export { ApiClient, type Given, type RawReply, type RawRequest } from './api-client.ts';
export { comparable } from './comparable.ts';
export { keyStatements, recordsFrom } from './key-statements.ts';
export { dumpTables, sql } from './sql.ts';
export { type SignedUp, startTestApi, type TestApi } from './test-api.ts';
