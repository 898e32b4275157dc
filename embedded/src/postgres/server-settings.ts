/** The settings that differ between servers. */
export interface ServerLocation {
  readonly clusterDir: string;
  /** In the title of every process of the server, which is how orphaned ones are found. */
  readonly clusterName: string;
  readonly socketDirectory: string;
  readonly port: number;
}

// On the command line, so that a release can change them for existing clusters and no file in the directory overrides
// them. Small: an idle server uses about 12 MB of private memory.
const SETTINGS: Readonly<Record<string, string>> = {
  // The durability of an acknowledged commit depends on these three.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',

  // No network access; the socket's directory admits its owner only.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  // Those of 64 gateway processes, and of the others.
  max_connections: '200',

  shared_buffers: '48MB',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  jit: 'off',
  // Read-ahead helps large scans, which the telemetry store does; its three processes would be idle here.
  io_method: 'sync',
  max_worker_processes: '0',
  max_parallel_workers: '0',
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  max_logical_replication_workers: '0',
  max_wal_senders: '0',
  max_replication_slots: '0',
  autovacuum_worker_slots: '3',
  autovacuum_max_workers: '2',

  // Bounds the size of the write-ahead log and the time of crash recovery.
  max_wal_size: '256MB',
  min_wal_size: '48MB',

  // `terse` and `panic` keep values and statements, which may be personal data, out of the log.
  log_destination: 'stderr',
  logging_collector: 'off',
  log_min_messages: 'warning',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
  log_timezone: 'UTC',
  TimeZone: 'UTC',
};

export function serverArguments(location: ServerLocation): string[] {
  const settings = {
    ...SETTINGS,
    cluster_name: location.clusterName,
    port: String(location.port),
    // PostgreSQL reads a list of names, so a comma or a blank in the path needs the quotes.
    unix_socket_directories: `"${location.socketDirectory.replaceAll('"', '""')}"`,
  };
  // isServerOn looks for exactly this prefix.
  return [
    '-D',
    location.clusterDir,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}
