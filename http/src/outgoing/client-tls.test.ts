import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createCertificate } from '../testing/index.ts';
import { type ClientTlsFiles, readClientTls } from './client-tls.ts';

describe('the files of TLS to a server', () => {
  let folder: string;
  const at = (name: string) => join(folder, name);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-tls-'));
    const one = createCertificate();
    const other = createCertificate();
    const files: Readonly<Record<string, string | Buffer>> = {
      'one.pem': one.cert,
      'one-key.pem': one.key,
      'other.pem': other.cert,
      'bundle.pem': `# two\n${one.cert}\n${other.cert}`,
      'damaged.pem': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      'encrypted.pem': '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n',
      'text.pem': 'text',
      'large.pem': Buffer.alloc(1024 * 1024 + 1, ' '),
    };
    for (const [name, content] of Object.entries(files)) await writeFile(at(name), content);
  });
  after(() => rm(folder, { recursive: true }));

  it('are read where they belong together', () => {
    const tls = readClientTls({
      caFile: at('bundle.pem'),
      certFile: at('one.pem'),
      keyFile: at('one-key.pem'),
    });
    assert.deepEqual(Object.keys(tls), ['ca', 'cert', 'key']);
    assert.deepEqual(readClientTls({}), {});
  });

  const FAULTS: readonly (readonly [ClientTlsFiles, keyof ClientTlsFiles, RegExp])[] = [
    [{ caFile: 'missing.pem' }, 'caFile', /missing.pem", which cannot be read: ENOENT/],
    [{ caFile: '.' }, 'caFile', /cannot be read: it is not a file/],
    [{ caFile: 'large.pem' }, 'caFile', /has more than 1 MiB/],
    [{ caFile: 'text.pem' }, 'caFile', /holds no certificate; expected PEM/],
    [{ caFile: 'damaged.pem' }, 'caFile', /certificate number 1 is damaged/],
    [
      { certFile: 'other.pem', keyFile: 'one-key.pem' },
      'certFile',
      /does not belong to the key in ".*one-key.pem"/,
    ],
    [{ certFile: 'one.pem', keyFile: 'text.pem' }, 'keyFile', /text.pem", which is not a private key/],
    [{ certFile: 'one.pem', keyFile: 'encrypted.pem' }, 'keyFile', /needs a passphrase/],
  ];
  for (const [names, file, message] of FAULTS)
    it(`are refused: ${Object.values(names).join(' and ')}`, () => {
      const files = Object.fromEntries(Object.entries(names).map(([key, name]) => [key, at(name)]));
      assert.throws(() => readClientTls(files), { name: 'ClientTlsError', file, message });
    });
});
