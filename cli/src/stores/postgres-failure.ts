import { DatabaseUnavailable } from '@gatehouse/store';
import { ConfigError } from '../config/config-error.ts';
import { shownAddress } from '../config/shown-value.ts';

// Why an external PostgreSQL cannot be used, with the setting, the server and what to do. The messages of the server and of the
// driver name neither of the first two, and an operator may have set two addresses.

/** One of the addresses in the settings. */
export interface PostgresSetting {
  readonly name: 'DATABASE_URL' | 'DATABASE_OWNER_URL';
  readonly url: string;
}

const UNKNOWN_AUTHORITY =
  'its certificate is of an unknown authority; add sslrootcert=FILE with the certificate of that authority';

const ADVICE: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [
    /^28P01 /,
    'it does not accept the user or the password; correct them, special characters percent-encoded',
  ],
  [
    /^28000 /,
    'it does not admit this login from here; correct the user, let pg_hba.conf admit it, or add sslmode=verify-full where it asks for TLS',
  ],
  [/^3D000 /, 'it has no such database; create it (CREATE DATABASE … OWNER …), or correct the name'],
  [
    /^42501 permission denied for database/,
    'this login may not connect to the database; GRANT CONNECT ON DATABASE … TO it',
  ],
  [/^(ENOTFOUND|EAI_AGAIN) /, 'its host name is not known; correct the name, or let it resolve here'],
  [/^ECONNREFUSED /, 'nothing listens there; start PostgreSQL, or correct the host and the port'],
  [/^ENOENT /, 'there is no such socket; start PostgreSQL, or correct the folder and the port'],
  [
    /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH) |timeout exceeded when trying|due to connection timeout/,
    'it does not answer; correct the host and the port, or let the network through to it',
  ],
  [
    /does not support SSL/,
    'it has no TLS, which the address asks for; set ssl = on in PostgreSQL, or sslmode=disable where no one else is on the network',
  ],
  [
    /error establishing an SSL connection/,
    'what listens there is not PostgreSQL; correct the host and the port',
  ],
  [
    /Connection terminated unexpectedly/,
    'it ended the connection; if it goes on, what listens there is not PostgreSQL: correct the host and the port',
  ],
  [/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+) /, UNKNOWN_AUTHORITY],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID /,
    'its certificate is for another host; use the name in the certificate, or sslmode=verify-ca',
  ],
  [/^CERT_HAS_EXPIRED /, 'its certificate has expired; renew it'],
];

/**
 * The same failure, with what to do. It stays DatabaseUnavailable where another attempt may help, and becomes ConfigError where the
 * settings or the server have to change first. What has nothing to do with reaching the server is returned as it is.
 */
export function explainedFailure(error: unknown, { name, url }: PostgresSetting): unknown {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error;
  if (!(cause instanceof Error)) return error;
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const [, advice] = ADVICE.find(([pattern]) => pattern.test(`${code} ${message}`)) ?? [];
  if (advice === undefined) return error;
  const text = `${name} is ${shownAddress(url)}: ${advice} (${message || code})`;
  if (!(error instanceof DatabaseUnavailable)) return new ConfigError(text);
  const explained = Object.assign(new Error(text, { cause }), code !== '' && { code });
  return new DatabaseUnavailable(error.message, { cause: explained });
}
