import { command, flag } from '../terminal/command.ts';

export const migrate = command({
  name: 'migrate',
  summary: 'migrate both stores to the schema of this version',
  details: [
    'Applies the migrations and the functions that are due, to PostgreSQL and then to ClickHouse, and prints what it applied. The service does the same when it starts; this is for migrating before a new version starts, or with a login that the service does not have. It needs the settings of both stores, and with DATABASE_OWNER_URL that login.',
    'May run while the service runs, under the same lock as a start. An older version that still runs keeps working, but cannot be started again on a migrated store.',
    'With --check nothing is changed, and the exit code is 1 when something is due.',
  ],
  inputs: { check: flag('print what is due and change nothing') },
  examples: ['gatehouse migrate --check', 'gatehouse migrate'],
  run: async ({ check }, context) =>
    (await import('./migrate/migrate-stores.ts')).migrateStores(check !== undefined, context),
});
