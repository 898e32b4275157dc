export {
  type Database,
  type DatabaseOptions,
  openDatabase,
  type Patience,
  type PostgresAddress,
  type Queryable,
  SERVICE_PATIENCE,
  type Transaction,
} from './database.ts';
export { DatabaseUnavailable, isUniqueViolation } from './errors.ts';
export { migratePostgres, requireSchema } from './migrate.ts';
export { createReadiness } from './readiness.ts';
export { requireServiceRole, SERVICE_ROLE } from './roles.ts';
export { type Statement, statement } from './statement.ts';
export { withPermits } from './with-permits.ts';
