export { socketConfig } from './client-config.ts';
export { ConnectionUrlError, readConnectionUrl } from './connection-url.ts';
export {
  type Database,
  type DatabaseOptions,
  type DatabaseTimeouts,
  type DatabaseUsage,
  openDatabase,
  type PostgresAddress,
  type Queryable,
  SERVICE_TIMEOUTS,
  type Transaction,
} from './database.ts';
export { DatabaseUnavailable, isLockTimeout, isTlsFailure, isUniqueViolation } from './errors.ts';
export { differingRights, duePostgresMigrations, migratePostgres, requireSchema } from './migrate.ts';
export { requirePooledSession } from './pooled-session.ts';
export { createReadiness } from './readiness.ts';
export { requireServiceRole, SERVICE_ROLE } from './roles.ts';
export {
  ROUTE_SETTING_COLUMNS,
  ROUTE_SETTINGS,
  ROUTE_SETTINGS_DOCUMENT,
  ROUTE_SETTINGS_EXCLUDED,
  type RouteSetting,
} from './route-settings.ts';
export { type Sql, type SqlFragment, sql } from './sql.ts';
export {
  declaredStatements,
  memberName,
  type NoParameters,
  type ParameterValue,
  type Statement,
  type StatementArguments,
  statement,
} from './statement.ts';
export { withPermits } from './with-permits.ts';
export { withRetries } from './with-retries.ts';
export { withTransactionTimeout } from './with-transaction-timeout.ts';
