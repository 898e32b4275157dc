import { DATABASE, inspectCluster, USER } from './cluster.ts';
import { findNativeFolder } from './native-binaries.ts';
import { preparePlace } from './place.ts';
import { Supervisor, type SupervisorEvent } from './supervisor.ts';
import { findSystemTools, type SystemTools } from './system-tools.ts';

export { EmbeddedPostgresRefused } from './refusal.ts';
export type { SupervisorEvent } from './supervisor.ts';

/** A PostgreSQL server on a directory of ours, kept alive for as long as this is open. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** For pg's Pool; the host is the directory of the server's socket. Stays the same across restarts. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** Whether this process started the server that runs now, or found it running. */
  readonly role: () => 'owner' | 'guest';
  /** Undefined while the server is down. */
  readonly serverPid: () => number | undefined;
  /** The cluster itself, `postgres` in the data directory. */
  readonly dataDirectory: string;
}

export interface EmbeddedPostgresOptions {
  /** Made when missing. A relative path counts from the current directory. */
  readonly dataDir: string;
  /** Told what happens to the server; must not throw. */
  readonly onEvent?: ((event: SupervisorEvent) => void) | undefined;
}

/** What a test may take away or move. */
export interface Surroundings {
  readonly tools?: SystemTools | undefined;
  readonly nativeFolder?: string | undefined;
}

/**
 * Opens the embedded PostgreSQL of a data directory: creates it at the first call, starts the server, or joins the one
 * that another process of ours runs. Resolves once the server has answered a question. Throws EmbeddedPostgresRefused,
 * whose message is meant for an operator, when the directory or the system does not allow it.
 *
 * To be called on the main thread: the server is tied to the life of the thread that starts it.
 */
export async function openEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
  surroundings: Surroundings = {},
): Promise<EmbeddedPostgres> {
  const place = await preparePlace(options.dataDir);
  // Refuses what can be refused before anything in there is read as if it were ours.
  await inspectCluster(place.clusterDir);
  const supervisor = new Supervisor(
    place,
    surroundings.tools ?? findSystemTools(),
    surroundings.nativeFolder ?? findNativeFolder(),
    options.onEvent ?? (() => undefined),
  );
  const address = await supervisor.open();
  return {
    connection: { ...address, user: USER, database: DATABASE },
    role: () => supervisor.role(),
    serverPid: () => supervisor.serverPid(),
    dataDirectory: place.clusterDir,
    [Symbol.asyncDispose]: () => supervisor.close(),
  };
}
