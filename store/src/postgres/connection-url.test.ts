import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConnectionUrlError, readConnectionUrl } from './connection-url.ts';

const ADDRESS = 'postgres://user:pass%3Fword@db:5432/gatehouse';
const HERE = import.meta.filename;

describe('the address of PostgreSQL', () => {
  it('keeps what is not about TLS', () => {
    assert.deepEqual(readConnectionUrl(ADDRESS), { url: ADDRESS, options: undefined, ssl: undefined });
    assert.deepEqual(
      readConnectionUrl(
        `${ADDRESS}?a=1&sslmode=disable&options=-c%20x%3D1&uselibpqcompat=true&channel_binding=require`,
      ),
      { url: `${ADDRESS}?a=1&channel_binding=require`, options: '-c x=1', ssl: false },
    );
  });

  it('takes the modes of libpq', () => {
    const tlsOf = (query: string) => readConnectionUrl(`${ADDRESS}?${query}`).ssl;
    assert.deepEqual(tlsOf('sslmode=require'), { rejectUnauthorized: false });
    assert.deepEqual(tlsOf('sslmode=no-verify'), { rejectUnauthorized: false });
    assert.deepEqual(tlsOf('sslmode=verify-full'), {});
    assert.deepEqual(tlsOf('sslmode=verify-full&sslrootcert=system'), {});
    assert.deepEqual(tlsOf('sslmode=disable&sslmode=verify-full'), {});
    assert.deepEqual(tlsOf('ssl=1'), {});
    assert.equal(tlsOf('ssl=false'), false);
    for (const mode of ['require', 'verify-ca']) {
      const tls = tlsOf(`sslmode=${mode}&sslrootcert=${HERE}`);
      assert.ok(tls && String(tls.ca).includes('takes the modes of libpq'));
      assert.ok(
        tls.rejectUnauthorized !== false && tls.checkServerIdentity?.('x', {} as never) === undefined,
      );
    }
  });

  for (const [query, expected] of [
    ['sslmode=prefer', /^sslmode=prefer would go on without TLS; choose disable or require$/],
    ['sslmode=allow', /^sslmode=allow would/],
    ['sslmode=VERIFY-FULL', /^sslmode=VERIFY-FULL is not one of disable, require, verify-ca, verify-full$/],
    ['ssl=yes', /^ssl=yes is not accepted; use sslmode instead$/],
    ['sslmode=verify-ca', /^sslmode=verify-ca needs sslrootcert/],
    ['sslmode=verify-ca&sslrootcert=system', /^sslmode=verify-ca does not verify the host/],
    ['sslmode=require&sslrootcert=system', /^sslmode=require does not verify the host/],
    ['sslrootcert=/ca.pem', /^sslrootcert, sslcert, sslkey need an sslmode/],
    [
      'sslmode=verify-full&sslrootcert=/none/ca.pem',
      /^sslrootcert=\/none\/ca.pem cannot be read \(ENOENT\)$/,
    ],
    [`sslmode=require&sslcert=${HERE}`, /^sslcert and sslkey must be given together$/],
  ] as const) {
    it(`says what is wrong with ${query.replaceAll(HERE, 'FILE')}`, () => {
      assert.throws(
        () => readConnectionUrl(`${ADDRESS}?${query}`),
        (error) => error instanceof ConnectionUrlError && expected.test(error.message),
      );
    });
  }
});
