import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createCertificate } from '@gatehouse/http/testing';
import { readCertificate } from './tls-files.ts';

describe('the files of TLS', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-tls-'));
  });
  after(() => rm(directory, { recursive: true }));

  const own = createCertificate();
  const other = createCertificate();
  const read = async (cert: Buffer | string | undefined, key: Buffer | string | undefined) => {
    const files = { tlsCert: join(directory, 'cert.pem'), tlsKey: join(directory, 'key.pem') };
    await rm(files.tlsCert, { force: true });
    await rm(files.tlsKey, { force: true });
    if (cert !== undefined) await writeFile(files.tlsCert, cert);
    if (key !== undefined) await writeFile(files.tlsKey, key);
    return readCertificate(files);
  };

  it('are a certificate, more certificates, and its key', async () => {
    const validTo = new Date('2100-01-02T03:04:05Z');
    const long = createCertificate({ validTo });
    const { cert, key, validTo: read1 } = await read(Buffer.concat([long.cert, other.cert]), long.key);
    assert.deepEqual([cert.subarray(0, long.cert.length), key], [long.cert, long.key]);
    assert.deepEqual(read1, validTo);
  });

  const encrypted = own.privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'hunter2',
  });
  for (const [what, cert, key, expected] of [
    [
      'a certificate that is not there',
      undefined,
      own.key,
      /^TLS_CERT is ".*cert.pem", which cannot be read: ENOENT.*; set it to/,
    ],
    ['a key that is not there', own.cert, undefined, /^TLS_KEY is ".*key.pem", which cannot be read: ENOENT/],
    ['an empty certificate', '', own.key, /^TLS_CERT is .* does not begin with a certificate; expected PEM/],
    [
      'the key in place of the certificate',
      own.key,
      own.key,
      /^TLS_CERT is .* does not begin with a certificate/,
    ],
    [
      'the certificate in place of the key',
      own.cert,
      own.cert,
      /^TLS_KEY is .*, which is not a private key; expected PEM/,
    ],
    [
      'a key that needs a passphrase',
      own.cert,
      encrypted,
      /^TLS_KEY is .*, which needs a passphrase; decrypt it/,
    ],
    [
      'the key of another certificate',
      own.cert,
      other.key,
      /^TLS_CERT is .* and TLS_KEY is .*, which do not belong together/,
    ],
    [
      'a chain in the wrong order',
      Buffer.concat([other.cert, own.cert]),
      own.key,
      /do not belong together; the first certificate/,
    ],
    [
      'a damaged chain',
      Buffer.concat([
        own.cert,
        Buffer.from('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'),
      ]),
      own.key,
      /^TLS_CERT is .*, which cannot be used: /,
    ],
    ['a file that is too large', Buffer.alloc(1024 * 1024 + 1, 10), own.key, /more than 1 MiB/],
  ] as const)
    it(`are refused in one line: ${what}`, async () => {
      await assert.rejects(read(cert, key), (error: Error) => {
        assert.equal(error.name, 'ConfigError');
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /\n|PRIVATE KEY-----\n|hunter2/);
        return true;
      });
    });

  it('are files', async () => {
    const tlsCert = join(directory, 'a-directory');
    await mkdir(tlsCert);
    await assert.rejects(readCertificate({ tlsCert, tlsKey: tlsCert }), /it is not a file/);
  });
});
