/** What one server is started with, beyond the settings that are the same for all. */
export interface ServerPlace {
  readonly clusterDir: string;
  /** Shown in the title of every process of the server, by which its strays are known. */
  readonly clusterName: string;
  readonly socketDirectory: string;
  readonly port: number;
}

// On the command line, so that a release can change them for clusters that exist, and nothing in the directory
// overrides them. Small: an idle server has about 12 MB of memory to itself.
const SETTINGS: Readonly<Record<string, string>> = {
  // What an acknowledged commit is worth rests on these three.
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',

  // Nobody reaches it over a network; the socket's directory admits its owner only.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '60',

  shared_buffers: '48MB',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  jit: 'off',
  // Reading ahead pays on large scans, which are the telemetry store's; its three processes would idle here.
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

  // Bounds both the space the log takes and the time that recovery after a crash takes.
  max_wal_size: '256MB',
  min_wal_size: '48MB',

  // `terse` and `panic` keep values and statements, and so personal data, out of the log.
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

export function serverArguments(place: ServerPlace): string[] {
  const settings = {
    ...SETTINGS,
    cluster_name: place.clusterName,
    port: String(place.port),
    // A list of names to PostgreSQL, so a comma or a blank in the path needs the quotes.
    unix_socket_directories: `"${place.socketDirectory.replaceAll('"', '""')}"`,
  };
  // isServerOn looks for exactly this beginning.
  return [
    '-D',
    place.clusterDir,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}
