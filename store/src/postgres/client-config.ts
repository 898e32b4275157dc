import pg from 'pg';
import { readConnectionUrl } from './connection-url.ts';
import { type Servers, serversOf } from './servers.ts';

/** The address of PostgreSQL: a connection string, or the parts of one (a host starting with `/` is a socket directory). */
export type PostgresAddress =
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly user: string; readonly database: string };

// Microseconds matter and Date has none, so a timestamptz stays text: ISO 8601 with the offset spelled out.
function isoTimestamp(text: string): string {
  const match = /^(\d{4,}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?\+00$/.exec(text);
  if (!match) throw new Error(`expected a timestamp in UTC from PostgreSQL, got ${text}`);
  return `${match[1]}T${match[2]}.${(match[3] ?? '').padEnd(6, '0')}+00:00`;
}

const UTC = '-c timezone=UTC';

// Money is bigint all the way: a float would lose micro-PKR.
const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, BigInt],
  [pg.types.builtins.NUMERIC, BigInt],
  [pg.types.builtins.TIMESTAMPTZ, isoTimestamp],
]);

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) ||
    pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** The servers of an address that names several, or asks for the primary. */
export function serversAt(address: PostgresAddress): Servers | undefined {
  return 'url' in address ? serversOf(readConnectionUrl(address.url).url) : undefined;
}

/** Over a socket, which leads to a server of this product. The driver takes what it is not told from the environment (PGOPTIONS,
 *  PGREPLICATION, PGSSLMODE, PGSSLNEGOTIATION), where it is meant for other servers. */
export function socketConfig(options: string): pg.ClientConfig {
  const settings = { options, replication: 'false', ssl: false, sslnegotiation: 'postgres' };
  return settings as pg.ClientConfig;
}

/** How to connect, with settings of the session that go before those that an address brings along. */
export function clientConfig(address: PostgresAddress, settings: string | undefined): pg.ClientConfig {
  if (!('url' in address)) return { ...address, ...socketConfig(settings ?? UTC), types };
  const { url, options, ssl } = readConnectionUrl(address.url);
  return {
    connectionString: url,
    types,
    // Of a setting that is named twice, the last one counts.
    ...((options ?? settings) !== undefined && { options: [options, settings].filter(Boolean).join(' ') }),
    ...(ssl !== undefined && { ssl }),
  };
}
