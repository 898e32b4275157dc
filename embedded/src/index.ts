export type { BackupSink } from './backup-sink.ts';
export {
  type FrozenTelemetry,
  freezeTelemetry,
  restoreTelemetry,
  type TelemetrySnapshot,
  type TelemetryTable,
} from './clickhouse/backup.ts';
export {
  type EmbeddedClickHouse,
  type EmbeddedClickHouseOptions,
  type EngineEvent,
  openEmbeddedClickHouse,
} from './clickhouse/index.ts';
export {
  chownCommand,
  DataOwnerError,
  findClosedDirectory,
  findDataOwner,
  findUnusable,
  locate,
} from './data-owner.ts';
export { ClusterBackup, ClusterBackupError, type ClusterSnapshot } from './postgres/backup.ts';
export { type EmbeddedPostgres, EmbeddedPostgresError, openEmbeddedPostgres } from './postgres/index.ts';
