export {
  type Database,
  type DatabaseOptions,
  openDatabase,
  type PostgresAddress,
  type Queryable,
  type Transaction,
} from './database.ts';
export { DatabaseUnavailable, isUniqueViolation } from './errors.ts';
export { MigrationRefused, migratePostgres } from './migrate.ts';
export { type Statement, statement } from './statement.ts';
