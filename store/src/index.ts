import type { createTelemetryClient } from './clickhouse/index.ts';

export * from './clickhouse/index.ts';
export { MigrationError } from './migration-error.ts';
export * from './postgres/index.ts';
export * from './vault/index.ts';

/** The telemetry store as the rest of Gatehouse sees it. */
export type TelemetryClient = ReturnType<typeof createTelemetryClient>;
