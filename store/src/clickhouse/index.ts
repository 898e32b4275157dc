export {
  createTelemetryClient,
  DEFAULT_TELEMETRY_DATABASE,
  type TelemetryClientOptions,
  type TelemetryTarget,
  telemetryDatabase,
} from './client.ts';
export {
  type InsertRequestLogOptions,
  insertRequestLog,
  REQUEST_LOG_BATCH_ROWS,
  type RequestLogRow,
} from './insert-request-log.ts';
export {
  type MigrateTelemetryOptions,
  migrateTelemetry,
  readTelemetryMigrations,
  type TelemetryMigration,
} from './migrate.ts';
