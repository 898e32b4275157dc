import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { misspeltSettings } from './config.ts';
import { inWords } from './unknown-settings.ts';

const found = (...names: string[]) =>
  misspeltSettings(Object.fromEntries(names.map((name) => [name, 'x']))).map(({ name, meant }) => [
    name,
    meant,
  ]);

describe('a variable that is not a setting', () => {
  it('is reported when one or two letters make it one', () => {
    for (const [name, meant] of [
      ['DATABSE_URL', 'DATABASE_URL'],
      ['GATEWAY_PROCESES', 'GATEWAY_PROCESSES'],
      ['GATEWAY_POTR', 'GATEWAY_PORT'],
      ['CLICKHOUSE_URI', 'CLICKHOUSE_URL'],
      ['HOSTS', 'HOST'],
      ['log_level', 'LOG_LEVEL'],
      ['GATEHOUSE_MASTERKEY', 'GATEHOUSE_MASTER_KEY'],
    ])
      assert.deepEqual(found(name ?? ''), [[name, meant]]);
  });

  it('is reported when it has the prefix of this product', () => {
    assert.deepEqual(found('GATEHOUSE_DATABASE'), [['GATEHOUSE_DATABASE', undefined]]);
    assert.equal(
      inWords({ name: 'GATEHOUSE_DATABASE', meant: undefined }),
      'GATEHOUSE_DATABASE is set and is not a setting; see docs/configuration.md',
    );
  });

  it('is reported when it is meant for a store, or names a file for a setting that is read from none', () => {
    for (const name of ['CLICKHOUSE_PASSWORD', 'REDIS_HOST', 'DATABASE_PASSWORD_FILE', 'PORT_FILE'])
      assert.deepEqual(found(name), [[name, undefined]]);
    assert.deepEqual(found('DATABSE_URL_FILE'), [['DATABSE_URL_FILE', 'DATABASE_URL_FILE']]);
    assert.deepEqual(
      found('DATABASE_URL_FILE', 'REDIS_URL_FILE', 'REDIS_SERVICE_HOST', 'REDIS_PORT_6379_TCP'),
      [],
    );
  });

  it('is not reported when it belongs to the system, a client or Kubernetes', () => {
    assert.deepEqual(
      found(
        ...['HOME', 'PATH', 'SHELL', 'HOSTNAME', 'HOSTTYPE', 'PGHOST', 'PGPORT', 'LOGNAME', 'OPENAI_API_KEY'],
        ...['GATEHOUSE_KEY', 'GATEHOUSE_API_KEY', 'x'.repeat(100_000)],
        ...[
          'GATEHOUSE_PORT',
          'GATEHOUSE_SERVICE_HOST',
          'GATEHOUSE_API_SERVICE_PORT_HTTP',
          'GATEHOUSE_PORT_8080_TCP_ADDR',
        ],
      ),
      [],
    );
  });

  it('is not reported when it is empty, or a setting', () => {
    assert.deepEqual(misspeltSettings({ DATABSE_URL: ' ', DATABASE_URL: 'postgres://x', PORT: '1' }), []);
  });
});
