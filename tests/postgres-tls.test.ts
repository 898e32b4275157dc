import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startPostgresProxy } from '@gatehouse/gateway/testing';
import { createCertificate } from '@gatehouse/http/testing';
import { DatabaseUnavailable, type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import { useTestDatabase } from '@gatehouse/store/testing';

const one = statement<NoParameters>('test-postgres-tls', sql`SELECT`);

describe('PostgreSQL over TLS', async () => {
  const test = await useTestDatabase();
  const stack = new AsyncDisposableStack();
  const own = createCertificate({ names: ['127.0.0.1'] });
  const elsewhere = createCertificate({ names: ['db.example.com'] });
  let directory: string;
  let ca: string;
  let otherCa: string;
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-tls-'));
    stack.defer(() => rm(directory, { recursive: true }));
    ca = join(directory, 'ca.pem');
    otherCa = join(directory, 'other.pem');
    await writeFile(ca, own.cert);
    await writeFile(otherCa, elsewhere.cert);
    process.on('warning', onWarning);
    stack.defer(() => void process.off('warning', onWarning));
  });
  after(() => stack.disposeAsync());

  const addressOf = async (certificate?: Parameters<typeof startPostgresProxy>[1]) => {
    const proxy = stack.use(await startPostgresProxy(test.address, certificate));
    if (!('host' in proxy.address)) throw new Error('expected the parts of an address');
    const { host, port, user, database } = proxy.address;
    return `postgres://${user}@${host}:${port}/${database}`;
  };
  const connects = async (url: string) => {
    await using database = openDatabase({ url });
    await database.run(one);
  };
  const refuses = (url: string, expected: RegExp) =>
    assert.rejects(connects(url), (error: Error) => {
      assert.ok(error instanceof DatabaseUnavailable, String(error));
      const { code, message } = error.cause as NodeJS.ErrnoException;
      assert.match(`${code} ${message}`, expected);
      return true;
    });

  it('verifies what the mode says, and warns of nothing', async () => {
    const url = await addressOf(own);
    const wrong = await addressOf(elsewhere);
    await connects(`${url}?sslmode=require`);
    await connects(`${url}?sslmode=verify-ca&sslrootcert=${ca}`);
    await connects(`${url}?sslmode=verify-full&sslrootcert=${ca}`);
    await connects(`${url}?sslmode=require&sslrootcert=${ca}&application_name=x`);
    await connects(`${url}?ssl=no-verify`);
    await connects(`${url}?sslmode=disable`);
    await connects(`${wrong}?sslmode=verify-ca&sslrootcert=${otherCa}`);
    await refuses(`${wrong}?sslmode=verify-full&sslrootcert=${otherCa}`, /^ERR_TLS_CERT_ALTNAME_INVALID /);
    for (const mode of ['require', 'verify-ca', 'verify-full'])
      await refuses(`${url}?sslmode=${mode}&sslrootcert=${otherCa}`, /^DEPTH_ZERO_SELF_SIGNED_CERT /);
    await refuses(`${url}?sslmode=verify-full`, /^DEPTH_ZERO_SELF_SIGNED_CERT /);
    await refuses(`${url}?ssl=true`, /^DEPTH_ZERO_SELF_SIGNED_CERT /);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(warnings, []);
  });

  it('does not go on without TLS where the server has none', async () => {
    const url = await addressOf();
    for (const mode of ['require', `verify-full&sslrootcert=${ca}`])
      await refuses(`${url}?sslmode=${mode}`, /The server does not support SSL connections/);
    await connects(`${url}?sslmode=disable`);
  });
});
