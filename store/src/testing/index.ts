export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { TEST_MASTER_KEY } from './test-master-key.ts';
export { createTestTelemetry, type TestTelemetry } from './test-telemetry.ts';
