import type { createTelemetryClient } from './clickhouse/index.ts';

export * from './clickhouse/index.ts';
export { MigrationRefused } from './migration-refused.ts';
export * from './postgres/index.ts';
export * from './vault/index.ts';

/** The telemetry store as the rest of Gatehouse sees it. */
export type TelemetryClient = ReturnType<typeof createTelemetryClient>;
