export type { BackupSink } from './backup-sink.ts';
export {
  type FrozenTelemetry,
  freezeTelemetry,
  restoreTelemetry,
  type TelemetryMoment,
  type TelemetryTable,
} from './clickhouse/backup.ts';
export {
  type EmbeddedClickHouse,
  type EmbeddedClickHouseOptions,
  type EngineEvent,
  openEmbeddedClickHouse,
} from './clickhouse/index.ts';
export { ClusterBackup, ClusterBackupFailed, type ClusterMoment } from './postgres/backup.ts';
export { type EmbeddedPostgres, EmbeddedPostgresRefused, openEmbeddedPostgres } from './postgres/index.ts';
