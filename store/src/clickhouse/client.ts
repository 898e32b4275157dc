/**
 * The client of the telemetry store. A ClickHouse server and the embedded engine speak the same interface, one over
 * TCP and one over a unix socket, so everything above this file is the same for both.
 */
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { plainName } from './sql-statement.ts';

export const DEFAULT_TELEMETRY_DATABASE = 'telemetry';

/**
 * A ClickHouse server by URL (user, password and database may be in it), or the embedded engine by its socket. An
 * opened EmbeddedClickHouse is a target; where both are given, the socket counts.
 */
export type TelemetryTarget = TelemetryServer | { readonly socketPath: string };

export type TelemetryServer = {
  readonly url: string;
  /** A file of CA certificates (PEM) for https, instead of the usual ones. It is read when a client is made. */
  readonly caFile?: string;
  /** The cluster, as the server's configuration names it, that keeps a copy of everything on each of its nodes. */
  readonly cluster?: string;
};

export type TelemetryClientOptions = {
  /** Default: the one in the URL's path, else `telemetry`. Null addresses the server before the database exists. */
  readonly database?: string | null;
  readonly requestTimeoutMs?: number;
  readonly maxOpenConnections?: number;
};

const REQUEST_TIMEOUT_MS = 30_000;
/** The embedded engine runs four queries at once; a few more may queue there without waiting for a connection. */
const MAX_OPEN_CONNECTIONS = 16;
/** Below the keep-alive of both: 3 s by default on a ClickHouse server, 60 s on the embedded engine. */
const IDLE_SOCKET_MS = 2_000;

/**
 * Makes a client; nothing is sent yet. Close it at the end. Errors of the store are ClickHouseError with ClickHouse's
 * code; an unreachable store is a plain Error with a `code` such as ECONNREFUSED or ENOENT.
 *
 * @throws RangeError when the database has no plain name
 * @throws Error with a system code when the file of CA certificates cannot be read
 */
export function createTelemetryClient(
  target: TelemetryTarget,
  options: TelemetryClientOptions = {},
): ClickHouseClient {
  const maxOpenConnections = options.maxOpenConnections ?? MAX_OPEN_CONNECTIONS;
  const database = telemetryDatabase(target, options);
  return createClient({
    url: 'socketPath' in target ? 'http://localhost' : withoutPath(target.url),
    // The client leaves out the name `default`, which is what a request without a database means.
    database: database ?? 'default',
    request_timeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    max_open_connections: maxOpenConnections,
    // 0: the client's own timers for idle connections sometimes end a busy one, see client.test.ts. The agent's do not.
    keep_alive: { enabled: true, idle_socket_ttl: 0 },
    http_agent: createAgent(target, maxOpenConnections),
    // Failures reach the caller as errors; the client's own logger would write them to the console a second time.
    log: { level: ClickHouseLogLevel.OFF },
    application: 'gatehouse',
    clickhouse_settings: {
      // 64-bit integers hold money, which JSON numbers would round.
      output_format_json_quote_64bit_integers: 1,
      // Otherwise a server goes on computing for a client that has disconnected; the embedded engine never does.
      cancel_http_readonly_queries_on_client_close: 1,
    },
  });
}

/** The cluster of the target; undefined for a single server and for the embedded engine. */
export function telemetryCluster(target: TelemetryTarget): string | undefined {
  return 'socketPath' in target ? undefined : target.cluster;
}

/** The database that a client of this target and these options works in. Null only when the options say so. */
export function telemetryDatabase(
  target: TelemetryTarget,
  options: TelemetryClientOptions = {},
): string | null {
  if (options.database !== undefined) return options.database === null ? null : plainName(options.database);
  const inUrl = 'socketPath' in target ? '' : decodeURIComponent(new URL(target.url).pathname.slice(1));
  return plainName(inUrl === '' ? DEFAULT_TELEMETRY_DATABASE : inUrl);
}

function withoutPath(text: string): URL {
  const url = new URL(text);
  url.pathname = '';
  return url;
}

function createAgent(target: TelemetryTarget, maxSockets: number): HttpAgent {
  // The time limit is that of idle connections: every request brings its own.
  const options = { keepAlive: true, maxSockets, timeout: IDLE_SOCKET_MS };
  if ('socketPath' in target) return new HttpAgent({ ...options, ...pathOf(target.socketPath) });
  if (new URL(target.url).protocol !== 'https:') return new HttpAgent(options);
  // The certificate is always verified, and must name the host.
  return new HttpsAgent({
    ...options,
    ...(target.caFile !== undefined && { ca: readFileSync(target.caFile) }),
  });
}

/** Node's agent passes its options on to `net.connect`; the declared type leaves the socket's path out. */
function pathOf(socketPath: string): object {
  return { socketPath };
}
