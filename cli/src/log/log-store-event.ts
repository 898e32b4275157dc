import type { Logger } from 'pino';

const INFO_EVENTS = new Set([
  'ready',
  'started',
  'joined',
  'orphaned-server-stopped',
  'orphaned-processes-ended',
]);

/**
 * Logs what happened to an embedded store, as `postgres.restart_failed` with the message "embedded PostgreSQL restart
 * failed". A lost store is a warning, even if it restarts at once.
 */
export function logStoreEvent(
  log: Logger,
  store: 'PostgreSQL' | 'ClickHouse',
  {
    kind,
    message: detail,
    role,
    afterMs,
    ...fields
  }: {
    readonly kind: string;
    readonly message?: string;
    readonly role?: string;
    readonly afterMs?: number;
  },
): void {
  const area = store === 'PostgreSQL' ? 'postgres' : 'clickhouse';
  log[INFO_EVENTS.has(kind) ? 'info' : 'warn'](
    {
      event: `${area}.${kind.replaceAll('-', '_')}`,
      ...(detail !== undefined && { detail }),
      // The role of this process in the service is another.
      ...(role !== undefined && { store_role: role }),
      ...(afterMs !== undefined && { after_ms: afterMs }),
      ...fields,
    },
    `embedded ${store} ${kind.replaceAll('-', ' ')}`,
  );
}
