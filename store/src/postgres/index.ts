export {
  type Database,
  type DatabaseOptions,
  openDatabase,
  type PostgresAddress,
  type Queryable,
  type Transaction,
} from './database.ts';
export { type EmbeddedPostgres, EmbeddedPostgresRefused, openEmbeddedPostgres } from './embedded/index.ts';
export { DatabaseUnavailable } from './errors.ts';
export { migratePostgres } from './migrate.ts';
export { createReadiness } from './readiness.ts';
export { type Statement, statement } from './statement.ts';
