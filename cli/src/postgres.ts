import { type EmbeddedPostgres, openEmbeddedPostgres } from '@gatehouse/embedded';
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
  type PostgresAddress,
  SERVICE_ROLE,
} from '@gatehouse/store';
import type { Config } from './config.ts';

/** How the service signs in. Can be handed to another process of it. */
export interface ServiceLogin {
  readonly address: PostgresAddress;
  /** The role that each connection takes on; left out where the login itself is that role. */
  readonly role?: string;
}

/** Opens a pool of connections with the rights of the service's role and no others. */
export function openAsService({ address, ...role }: ServiceLogin, options?: DatabaseOptions): Database {
  return openDatabase(address, { ...options, ...role });
}

/** The PostgreSQL server of the settings, and how each party signs in to it. Closes what it started, and nothing
 *  that was opened on it. */
export interface PostgresServer extends AsyncDisposable {
  readonly isEmbedded: boolean;
  /** Whether it ends when this is closed: it is embedded, and this process runs it. */
  endsWithThis(): boolean;
  /** As the owner, who may change the schema and everything in it. */
  openOwner(options?: DatabaseOptions): Database;
  readonly serviceLogin: ServiceLogin;
  readonly inWords: string;
}

type ServerEvent = Parameters<NonNullable<Parameters<typeof openEmbeddedPostgres>[0]['onEvent']>>[0];

/** Starts the embedded server, or joins the one that runs; an external one is not contacted yet. */
export async function openPostgresServer(
  config: Pick<Config, 'databaseUrl' | 'databaseOwnerUrl' | 'dataDir'>,
  onEvent: (event: ServerEvent) => void,
): Promise<PostgresServer> {
  const { databaseUrl, databaseOwnerUrl, dataDir } = config;
  return databaseUrl === undefined
    ? embedded(await openEmbeddedPostgres({ dataDir, onEvent }))
    : external(databaseUrl, databaseOwnerUrl ?? databaseUrl);
}

// The embedded server lets in whoever reaches its socket, so the service can sign in as its role outright.
function embedded(server: EmbeddedPostgres): PostgresServer {
  const { connection } = server;
  return {
    isEmbedded: true,
    endsWithThis: () => server.role() === 'leader',
    openOwner: (options) => openDatabase(connection, options),
    serviceLogin: { address: { ...connection, user: SERVICE_ROLE } },
    inWords: `embedded, in ${server.dataDirectory}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

// Elsewhere it takes the role on as it connects: most are given one login only.
function external(serviceUrl: string, ownerUrl: string): PostgresServer {
  return {
    isEmbedded: false,
    endsWithThis: () => false,
    openOwner: (options) => openDatabase({ url: ownerUrl }, options),
    serviceLogin: { address: { url: serviceUrl }, role: SERVICE_ROLE },
    inWords: 'external (DATABASE_URL)',
    async [Symbol.asyncDispose]() {},
  };
}
