import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createCertificate } from '@gatehouse/http/testing';
import type { Role } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { checkedConfig } from './start-check.ts';

describe('the check before a start', () => {
  let directory: string;
  let taken: number;
  const server = createServer();
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-check-'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    taken = (server.address() as AddressInfo).port;
  });
  after(async () => {
    server.close();
    await rm(directory, { recursive: true });
  });

  const FREE = { PORT: '0', GATEWAY_PORT: '0' };
  const issues = async (
    environment: Record<string, string>,
    role: Role = 'all',
  ): Promise<readonly string[]> => {
    try {
      await checkedConfig({ ...FREE, DATA_DIR: join(directory, 'data'), ...environment }, role);
      return [];
    } catch (error) {
      assert.ok(error instanceof ConfigError, String(error));
      return error.issues;
    }
  };

  it('creates nothing', async () => {
    assert.deepEqual(await issues({}), []);
    assert.deepEqual(await readdir(directory), []);
  });

  it('names a file of CA certificates for ClickHouse that cannot be used', async () => {
    const url = { CLICKHOUSE_URL: 'https://clickhouse.example.com:8443' };
    const file = join(directory, 'ca.pem');
    const [missing = ''] = await issues({ ...url, CLICKHOUSE_CA_FILE: file });
    assert.match(missing, /^CLICKHOUSE_CA_FILE is "[^"]+ca\.pem", which cannot be used: ENOENT/);
    await writeFile(file, 'not a certificate');
    const [broken = ''] = await issues({ ...url, CLICKHOUSE_CA_FILE: file });
    assert.match(broken, /which cannot be used: it has no certificate in PEM form; set it to a file of CA/);
    await writeFile(file, createCertificate({ names: ['clickhouse.example.com'] }).cert);
    assert.deepEqual(await issues({ ...url, CLICKHOUSE_CA_FILE: file }), await issues(url));
    await rm(file);
  });

  it('names a port that is taken, and how to change it', async () => {
    const [issue, ...others] = await issues({ PORT: String(taken) });
    assert.deepEqual(others, []);
    assert.ok(
      issue?.startsWith(
        `PORT is ${taken}, and another program already listens on that port of 127.0.0.1; stop it if it is an earlier Gatehouse, or set PORT to another port, for example PORT=`,
      ),
      issue,
    );
  });

  it('tries the ports of the role only', async () => {
    assert.deepEqual(await issues({ PORT: String(taken) }, 'gateway'), []);
    assert.deepEqual(await issues({ GATEWAY_PORT: String(taken) }, 'api'), []);
    assert.equal((await issues({ GATEWAY_PORT: String(taken) }, 'gateway')).length, 1);
  });

  it('names a port that two listeners have', async () => {
    const [issue] = await issues({ PORT: String(taken), GATEWAY_PORT: String(taken) });
    assert.equal(issue, `PORT and GATEWAY_PORT are both ${taken}; set one of them to another port`);
  });

  it('names a host that is not of this machine once', async () => {
    const chosen = { JOIN_POLICY: 'open', SIGNUP_CREDIT_PKR: '0', TRUSTED_PROXY_HOPS: '0' };
    const found = await issues({ ...chosen, HOST: '192.0.2.1' });
    assert.equal(found.length, 1);
    assert.match(
      found[0] ?? '',
      /^HOST is "192\.0\.2\.1", which is not an address of this machine; set it to /,
    );
  });

  it('names the address whose TLS cannot be had, and the file that is missing', async () => {
    const chosen = { JOIN_POLICY: 'open', GATEHOUSE_MASTER_KEY_FILE: '/none' };
    const found = await issues({
      ...chosen,
      DATABASE_URL: 'postgres://user:hunter2@db/x?sslmode=prefer',
      DATABASE_OWNER_URL: `postgres://db/x?sslmode=verify-full&sslrootcert=${directory}/ca.pem`,
      REDIS_CA_FILE: join(directory, 'ca.pem'),
    });
    assert.equal(found.length, 3);
    assert.match(found[0] ?? '', /^REDIS_CA_FILE is ".*ca.pem", which cannot be read: ENOENT/);
    assert.match(
      found[1] ?? '',
      /^DATABASE_URL is "postgres:.*", which cannot be used: sslmode=prefer would/,
    );
    assert.match(
      found[2] ?? '',
      /^DATABASE_OWNER_URL is .*: sslrootcert=.*ca.pem cannot be read \(ENOENT\)$/,
    );
    assert.doesNotMatch(found.join(), /hunter2/);
  });

  it('reads the files of TLS', async () => {
    const { cert, key } = createCertificate();
    const [TLS_CERT, TLS_KEY] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
    await writeFile(TLS_CERT, cert);
    await writeFile(TLS_KEY, key);
    assert.deepEqual(await issues({ TLS_CERT, TLS_KEY }), []);
    const [issue] = await issues({ TLS_CERT: TLS_KEY, TLS_KEY });
    assert.match(issue ?? '', /^TLS_CERT is ".*key\.pem", which does not begin with a certificate/);
  });

  it('has all that is wrong in one message', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    const found = await issues({
      ANALYTICS_TIMEOUT_MS: 'soon',
      GATEWAY_PORT: String(taken),
      DATA_DIR: join(file, 'data'),
      CATALOGUE: join(directory, 'none.yaml'),
      GATEWAY_PROCESES: '4',
    });
    assert.deepEqual(
      found.map((issue) => issue.split(' ')[0]),
      ['ANALYTICS_TIMEOUT_MS', 'GATEWAY_PORT', 'DATA_DIR', 'CATALOGUE', 'GATEWAY_PROCESES'],
    );
    await rm(file);
  });
});
