export {
  createTelemetryClient,
  DEFAULT_TELEMETRY_DATABASE,
  type TelemetryClientOptions,
  type TelemetryServer,
  type TelemetryTarget,
  telemetryCluster,
  telemetryDatabase,
} from './client.ts';
export { queryCurrentReplica, REPLICA, ReplicaBehindError } from './current-replica.ts';
export {
  type InsertRequestLogOptions,
  insertRequestLog,
  REQUEST_LOG_BATCH_ROWS,
} from './insert-request-log.ts';
export {
  createTablesOnCluster,
  dueTelemetryMigrations,
  type MigrateTelemetryOptions,
  migrateTelemetry,
  readTelemetryMigrations,
  type TelemetryMigration,
} from './migrate.ts';
export {
  type Attempt,
  type AttemptEnding,
  attemptsFromJson,
  attemptsToJson,
  MAX_ATTEMPT_ERROR_BYTES,
  MAX_ATTEMPTS,
  readAttempts,
} from './request-attempts.ts';
export {
  type CountedRule,
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
export {
  type Deadline,
  type Lines,
  QUERY_LIMITS,
  queryLines,
  queryRows,
  startDeadline,
  TelemetryUnavailableError,
} from './run-query.ts';
export {
  type EngineSettings,
  fragment,
  int64,
  joinSql,
  rawSql,
  type TelemetryQuery,
  type TelemetrySql,
  telemetryQuery,
  text,
  textLiteral,
  uint8,
  uint32,
  uint64,
  uuid,
} from './telemetry-query.ts';
