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
} from './insert-request-log.ts';
export {
  type MigrateTelemetryOptions,
  migrateTelemetry,
  readTelemetryMigrations,
  type TelemetryMigration,
} from './migrate.ts';
export {
  type RequestLogColumn,
  type RequestLogField,
  type RequestLogKind,
  type RequestLogKinds,
  type RequestLogRow,
  requestLogColumns,
  requestLogSelect,
  type ShownRequestLogColumn,
  type StoredRequest,
  shownRequestLogColumns,
} from './request-log-columns.ts';
