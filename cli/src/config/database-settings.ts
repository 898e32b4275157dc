import { setting, wholeNumber } from './setting.ts';

// How the service uses PostgreSQL.

const MAX_POOL_SIZE = 200;

export const databaseSettings = {
  databasePooler: setting(
    'DATABASE_POOLER',
    'transaction if DATABASE_URL leads to a pooler in transaction mode. DATABASE_OWNER_URL must then lead to PostgreSQL itself.',
    {
      expected: 'none or transaction',
      fallback: 'none' as 'none' | 'transaction',
      parse: (text) => (text === 'none' || text === 'transaction' ? text : undefined),
    },
  ),
  startTimeoutSeconds: setting('START_TIMEOUT', 'Seconds that a start waits for an external PostgreSQL.', {
    ...wholeNumber(0, 86_400),
    fallback: 60,
  }),
  databasePoolSize: setting(
    'DATABASE_POOL_SIZE',
    'The most PostgreSQL connections of the API, and of `--role gateway` with one process.',
    { ...wholeNumber(2, MAX_POOL_SIZE), fallback: 8 },
  ),
  gatewayPoolSize: setting(
    'GATEWAY_DATABASE_POOL_SIZE',
    'The most PostgreSQL connections of each gateway process.',
    {
      ...wholeNumber(2, MAX_POOL_SIZE),
      fallback: undefined as number | undefined,
      fallbackText: '8; beyond 8 gateway processes 64 divided by their number, at least 2',
    },
  ),
};
