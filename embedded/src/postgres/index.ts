import { DATABASE, inspectCluster, USER } from './cluster.ts';
import { prepareClusterPaths } from './cluster-paths.ts';
import { findNativeFolder } from './native-binaries.ts';
import { Supervisor, type SupervisorEvent } from './supervisor.ts';
import { findSystemTools, type SystemTools } from './system-tools.ts';

export { EmbeddedPostgresError } from './errors.ts';
export type { SupervisorEvent } from './supervisor.ts';

/** A PostgreSQL server on a data directory, kept running for as long as this is open. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** For pg's Pool; the host is the directory of the server's socket. It stays the same across restarts. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** The leader runs the server; a follower uses it. It can change at any time. */
  readonly role: () => 'leader' | 'follower';
  /** Undefined while the server is down. */
  readonly serverPid: () => number | undefined;
  /** The cluster itself, `postgres` in the data directory. */
  readonly dataDirectory: string;
}

export interface EmbeddedPostgresOptions {
  /** Created if missing. A relative path counts from the current directory. */
  readonly dataDir: string;
  /** Called with every change of the server; must not throw. */
  readonly onEvent?: ((event: SupervisorEvent) => void) | undefined;
}

/** The facilities that the system provides. A test can take parts of it away. */
export interface Environment {
  readonly tools?: SystemTools | undefined;
  readonly nativeFolder?: string | undefined;
}

/**
 * Opens the embedded PostgreSQL of a data directory: creates it on first use, starts the server, or follows the one that
 * another process runs. Resolves once the server has answered a query. Throws EmbeddedPostgresError, with a message for
 * the operator, when the directory or the system does not allow it.
 *
 * Must be called on the main thread: the server's life is tied to the thread that starts it.
 */
export async function openEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
  environment: Environment = {},
): Promise<EmbeddedPostgres> {
  const paths = await prepareClusterPaths(options.dataDir);
  // Before any file in there is trusted.
  await inspectCluster(paths.clusterDir);
  const supervisor = new Supervisor(
    paths,
    environment.tools ?? findSystemTools(),
    environment.nativeFolder ?? findNativeFolder(),
    options.onEvent ?? (() => undefined),
  );
  const address = await supervisor.open();
  return {
    connection: { ...address, user: USER, database: DATABASE },
    role: () => supervisor.role(),
    serverPid: () => supervisor.serverPid(),
    dataDirectory: paths.clusterDir,
    [Symbol.asyncDispose]: () => supervisor.close(),
  };
}
