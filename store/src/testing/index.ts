export { createDatabaseAtStep, type DatabaseAtStep } from './database-at-step.ts';
export { dumpSchema } from './dump-schema.ts';
export { hourlySums, rowsWithout } from './hourly-sums.ts';
export { rawSql } from './raw-sql.ts';
export { rowsOf } from './rows-of.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { TEST_MASTER_KEY } from './test-master-key.ts';
export { type TestServers, testServers } from './test-servers.ts';
export { createTestTelemetry, type TestTelemetry } from './test-telemetry.ts';
