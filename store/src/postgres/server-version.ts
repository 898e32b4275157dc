import { MigrationError } from '../migration-error.ts';

// The oldest version that the tests run on (docs/postgresql.md).
const OLDEST_SERVER = 15;

export interface ServerVersion {
  /** As the server says it: `15.18 (Debian 15.18-0+deb12u1)`. */
  readonly version: string;
  /** 150018 for it. */
  readonly number: number;
}

export const SERVER_VERSION = `SELECT current_setting('server_version') AS version,
  current_setting('server_version_num')::integer AS number`;

/** @throws MigrationError for a server that lacks what statements and functions use, before one of them fails */
export function requireSupported({ version, number }: ServerVersion): void {
  if (number >= OLDEST_SERVER * 10_000) return;
  throw new MigrationError(
    `this server is PostgreSQL ${version}, and Gatehouse needs ${OLDEST_SERVER} or newer: upgrade the server, or name another one in DATABASE_URL`,
  );
}
