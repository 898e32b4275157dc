import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigError, readConfig, readDatabaseConfig } from './config.ts';

describe('readDatabaseConfig', () => {
  it('takes every form of address that the driver does', () => {
    for (const DATABASE_URL of [
      'postgresql:///db?host=/socket/dir&user=x',
      'postgresql:///db?host=%2Fsocket&port=5433',
      'postgres://u:p@/db?host=/socket',
      'postgres://u:p@%2Fsocket%2Fdir/db',
      'postgres://u:p%40ss@[::1]:5432/db',
      'postgres://u:10% of it@db.example:65535/a b',
      'postgres://db',
      'POSTGRES://db/x',
    ])
      assert.equal(readDatabaseConfig({ DATABASE_URL }).databaseUrl, DATABASE_URL);
  });

  it('names the address that cannot be taken apart, without showing it', () => {
    for (const address of [
      'postgresql://u:hunter2@[bad/x',
      'postgres://u:hunter2@db:99999/x',
      'postgres://u:hunter2@db:0/x',
      'postgres://u:hunter2@db:port/x',
      'postgres://u:hunter2@/x?host=/socket&port=99999',
      'postgres://u:hunter2%ff@db/x',
    ])
      for (const [name, environment] of [
        ['DATABASE_URL', { DATABASE_URL: address }],
        ['DATABASE_OWNER_URL', { DATABASE_URL: 'postgres://db', DATABASE_OWNER_URL: address }],
      ] as const)
        assert.throws(
          () => readDatabaseConfig(environment),
          (error: Error) =>
            error instanceof ConfigError &&
            /^\w+ is ("postgres(ql)?:\/\/…@[^"]*"|\(not shown\)), expected a well-formed address/.test(
              error.message,
            ) &&
            error.message.startsWith(`${name} `) &&
            !error.message.includes('hunter2'),
        );
  });

  it('has the embedded database as its default', () => {
    const none = { dataDir: './data', databaseUrl: undefined, databaseOwnerUrl: undefined };
    assert.deepEqual(readDatabaseConfig({}), none);
    assert.deepEqual(readDatabaseConfig({ DATABASE_URL: ' ' }), none);
  });

  it('asks for nothing that only the service needs, and judges nothing of it', () => {
    const environment = { DATABASE_URL: 'postgres://db/x', DATABASE_OWNER_URL: 'postgres://owner@db/x' };
    assert.throws(() => readConfig(environment), ConfigError);
    assert.deepEqual(readDatabaseConfig({ ...environment, PORT: 'eighty', REDIS_URL: 'redis://x' }), {
      dataDir: './data',
      databaseUrl: 'postgres://db/x',
      databaseOwnerUrl: 'postgres://owner@db/x',
    });
  });

  it('refuses what it needs and cannot use', () => {
    for (const environment of [
      { DATABASE_URL: 'mysql://db' },
      { DATABASE_OWNER_URL: 'postgres://owner@db/x' },
      { DATA_DIR: 'a\0b' },
    ]) {
      assert.throws(() => readDatabaseConfig(environment), ConfigError);
    }
  });
});
