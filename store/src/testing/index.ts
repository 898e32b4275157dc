export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { createTestTelemetry, type TestTelemetry } from './test-telemetry.ts';
