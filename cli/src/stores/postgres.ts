import { type EmbeddedPostgres, openEmbeddedPostgres } from '@gatehouse/embedded';
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
  type PostgresAddress,
  SERVICE_ROLE,
} from '@gatehouse/store';
import { type Config, ConfigError } from '../config/config.ts';
import { connectionIssues } from '../config/connection-issues.ts';
import { explainedFailure, type PostgresSetting } from './postgres-failure.ts';

/** How the service connects. Can be sent to the gateway process. */
export interface ServiceLogin {
  readonly address: PostgresAddress;
  /** The role that each connection sets; left out if the login itself is that role. */
  readonly role?: string;
  /** True if a pooler is between, which gives a connection to each transaction. */
  readonly isPooled?: boolean;
}

/** Opens a connection pool with the rights of the service's role only. */
export function openAsService({ address, ...role }: ServiceLogin, options?: DatabaseOptions): Database {
  return openDatabase(address, { ...options, ...role });
}

/** The PostgreSQL server of the settings, and how to connect to it. Disposing closes what it started, but no pool that
 *  was opened on it. */
export interface PostgresServer extends AsyncDisposable {
  readonly isEmbedded: boolean;
  /** True if the server stops when this is disposed: it is embedded and this process leads. */
  stopsOnDispose(): boolean;
  /** As the owner, who may change the schema and all data. */
  openOwner(options?: DatabaseOptions): Database;
  readonly serviceLogin: ServiceLogin;
  readonly description: string;
  /** The error, with what to do where an external server cannot be reached or refuses the login. */
  explained(error: unknown, login: 'owner' | 'service'): unknown;
}

type ServerEvent = Parameters<NonNullable<Parameters<typeof openEmbeddedPostgres>[0]['onEvent']>>[0];

/** Starts the embedded server, or follows the one that runs; an external one is not contacted yet. */
export async function openPostgresServer(
  config: Pick<Config, 'databaseUrl' | 'databaseOwnerUrl' | 'dataDir'> &
    Partial<Pick<Config, 'databasePooler'>>,
  onEvent: (event: ServerEvent) => void,
): Promise<PostgresServer> {
  const { databaseUrl, databaseOwnerUrl, dataDir, databasePooler } = config;
  return databaseUrl === undefined
    ? embedded(await openEmbeddedPostgres({ dataDir, onEvent }))
    : external(databaseUrl, databaseOwnerUrl, databasePooler === 'transaction');
}

// The embedded server trusts every client of its socket, so the service connects as its role directly.
function embedded(server: EmbeddedPostgres): PostgresServer {
  const { connection } = server;
  return {
    isEmbedded: true,
    stopsOnDispose: () => server.role() === 'leader',
    openOwner: (options) => openDatabase(connection, options),
    serviceLogin: { address: { ...connection, user: SERVICE_ROLE } },
    description: `embedded, in ${server.dataDirectory}`,
    explained: (error) => error,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

// With an external server it sets the role on connecting: most installations have one login.
function external(
  serviceUrl: string,
  databaseOwnerUrl: string | undefined,
  isPooled: boolean,
): PostgresServer {
  const ownerUrl = databaseOwnerUrl ?? serviceUrl;
  const issues = connectionIssues({ databaseUrl: serviceUrl, databaseOwnerUrl: ownerUrl });
  if (issues[0] !== undefined) throw new ConfigError(issues[0]);
  const service: PostgresSetting = { name: 'DATABASE_URL', url: serviceUrl };
  const owner: PostgresSetting =
    databaseOwnerUrl === undefined ? service : { name: 'DATABASE_OWNER_URL', url: databaseOwnerUrl };
  return {
    isEmbedded: false,
    stopsOnDispose: () => false,
    openOwner: (options) => openDatabase({ url: ownerUrl }, options),
    serviceLogin: isPooled
      ? { address: { url: serviceUrl }, isPooled }
      : { address: { url: serviceUrl }, role: SERVICE_ROLE },
    description: 'external (DATABASE_URL)',
    explained: (error, login) => explainedFailure(error, login === 'owner' ? owner : service),
    async [Symbol.asyncDispose]() {},
  };
}
