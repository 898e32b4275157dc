import { setting, wholeNumber } from './setting.ts';

// How the service uses PostgreSQL.

const MAX_POOL_SIZE = 200;

export const databaseSettings = {
  databasePooler: setting(
    'DATABASE_POOLER',
    'transaction if DATABASE_URL leads to a PgBouncer, or another pooler, that gives a connection to each transaction. DATABASE_OWNER_URL must then lead to PostgreSQL itself, and the login needs settings of its own, which the start names if they are missing.',
    {
      expected: 'none or transaction',
      fallback: 'none' as 'none' | 'transaction',
      parse: (text) => (text === 'none' || text === 'transaction' ? text : undefined),
    },
  ),
  startTimeoutSeconds: setting(
    'START_TIMEOUT',
    'How many seconds a start waits for an external PostgreSQL that does not answer.',
    { ...wholeNumber(0, 86_400), fallback: 60 },
  ),
  databasePoolSize: setting(
    'DATABASE_POOL_SIZE',
    'The most connections to PostgreSQL that the API opens. A gateway without processes of its own (`--role gateway`) also uses it.',
    { ...wholeNumber(2, MAX_POOL_SIZE), fallback: 8 },
  ),
  gatewayPoolSize: setting(
    'GATEWAY_DATABASE_POOL_SIZE',
    'The most connections to PostgreSQL that each gateway process opens.',
    {
      ...wholeNumber(2, MAX_POOL_SIZE),
      fallback: undefined as number | undefined,
      fallbackText: '8; with more than 8 gateway processes, 64 divided by their number, at least 2',
    },
  ),
};
