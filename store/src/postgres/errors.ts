import pg from 'pg';

/** The database cannot be used right now; the same call may work in a moment. Becomes a 503. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

// SQLSTATE codes that are about the server's state, not about the statement.
const UNAVAILABLE_CODES = new Set([
  '53300', // too many connections
  '55P03', // lock_timeout
  '57014', // statement_timeout
  '57P01', // the server is shutting down
  '57P02', // the server crashed
  '57P03', // the server is starting
  '25006', // it has become a standby: the primary is elsewhere
  '25P03', // idle_in_transaction_session_timeout
  '25P02', // the transaction was already broken by one of the above
]);

const NETWORK_CODES = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
]);

// A server that takes over may have another certificate, or none that is valid.
const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH$)/;

export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '';
    return UNAVAILABLE_CODES.has(code) || code.startsWith('08') || code.startsWith('53');
  }
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string')
    return NETWORK_CODES.has(error.code) || TLS_CODES.test(error.code);
  // The driver throws these as plain errors, without a code.
  return /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end|The server does not support SSL connections|There was an error establishing an SSL connection)/.test(
    error.message,
  );
}

/** The error itself, or DatabaseUnavailable in place of one that says that the database cannot be used. */
export function withUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable || !isUnavailable(error)) return error;
  return new DatabaseUnavailable('PostgreSQL cannot be used right now', { cause: error });
}

/** A row or a table was locked for longer than `lock_timeout`. The statement had no effect. */
export function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error;
  return cause instanceof pg.DatabaseError && cause.code === '55P03';
}

/** The two ends do not agree on TLS, which no other attempt changes. */
export function isTlsFailure(error: unknown): boolean {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error;
  if (!(cause instanceof Error)) return false;
  if ('code' in cause && typeof cause.code === 'string') return TLS_CODES.test(cause.code);
  return /SSL connection/.test(cause.message);
}

/** The server has become a standby, and refuses to write. */
export function isOfStandby(error: unknown): boolean {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error;
  return cause instanceof pg.DatabaseError && cause.code === '25006';
}

/** The connection did not answer in time, or is broken: nothing more can be asked on it. */
export function isWithoutAnswer(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && !(error.cause instanceof pg.DatabaseError);
}

/** PostgreSQL ended this transaction because of a deadlock or a serialisation failure: run it again. */
export function isRetryable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/** The unique constraint of this name refused the row. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === constraint;
}
