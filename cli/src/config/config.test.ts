import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { ConfigError, readConfig } from './config.ts';

// Any 32 bytes.
const GATEHOUSE_MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const KNOWN_CLIENTS_HEADERS = [
  'x-claude-code-session-id',
  'x-claude-code-agent-id',
  'x-claude-code-parent-agent-id',
  'session-id',
  'thread-id',
  'x-openwebui-user-email',
];

describe('readConfig', () => {
  it('has a default for everything', () => {
    const { trustedProxies, metadataHeaders, ...rest } = readConfig({});
    assert.ok(trustedProxies.check('127.5.6.7') && trustedProxies.check('::1', 'ipv6'));
    assert.deepEqual([...metadataHeaders.keys()], KNOWN_CLIENTS_HEADERS);
    assert.ok(!trustedProxies.check('128.0.0.1') && !trustedProxies.check('::2', 'ipv6'));
    assert.deepEqual(rest, {
      host: '127.0.0.1',
      apiPort: 8080,
      gatewayPort: 8081,
      dataDir: './data',
      tlsCert: undefined,
      tlsKey: undefined,
      databaseUrl: undefined,
      databaseOwnerUrl: undefined,
      databasePooler: 'none',
      startTimeoutSeconds: 60,
      databasePoolSize: 8,
      gatewayPoolSize: undefined,
      drainDelaySeconds: undefined,
      clickhouseUrl: undefined,
      clickhouseOwnerUrl: undefined,
      clickhouseCaFile: undefined,
      clickhouseCluster: undefined,
      clickhouseInsertQuorum: 'auto',
      masterKey: undefined,
      masterKeyFile: undefined,
      masterKeyCommand: undefined,
      newMasterKey: undefined,
      newMasterKeyFile: undefined,
      newMasterKeyCommand: undefined,
      catalogue: undefined,
      joinPolicy: 'open',
      signupCreditMicroPkr: 1_000_000_000n,
      keysPerOrganization: 10_000,
      rateLimitCeilingRpm: 6_000,
      allowedOrigins: new Set(),
      allowedHosts: new Set(),
      publicGatewayUrl: undefined,
      trustedProxyHops: 1,
      registrationsPerNetwork: 20,
      registrationsPerHour: 1_000,
      signInAttempts: 10,
      googleClientId: undefined,
      googleIssuer: 'https://accounts.google.com',
      oidcIssuer: undefined,
      oidcClientId: undefined,
      oidcClientSecret: undefined,
      oidcLabel: 'Continue with single sign-on',
      oidcDomains: undefined,
      oidcOrganization: undefined,
      publicUrl: undefined,
      passwordSignIn: true,
      alertWebhookHosts: new Set(),
      smtpUrl: undefined,
      smtpFrom: undefined,
      analyticsTimeoutMs: 10_000,
      telemetryRetentionDays: undefined,
      gatewayProcesses: 1,
      redis: undefined,
      redisCaFile: undefined,
      gatewayNodes: 2,
      gatewayBodyLimitMb: 32,
      gatewayCorsOrigins: new Set(),
      dashboard: 'on',
      diskMinFreeMb: 256,
      gatewayHeapMb: undefined,
      metricsPort: undefined,
      metricsHost: '127.0.0.1',
      ...{ httpProxy: undefined, httpsProxy: undefined, noProxy: undefined },
      otlpEndpoint: undefined,
      tracesSampler: 'parentbased_always_on',
      tracesSamplerRatio: 1,
      traceContextTo: new Set(),
      logLevel: 'info',
    });
  });

  it('takes the parts of a Redis address, and keeps its password to itself', () => {
    const { redis } = readConfig({ REDIS_URL: 'rediss://some%40one:p%2Fw@[::1]:6380/3' });
    assert.deepEqual(
      { ...redis, password: redis?.password?.reveal() },
      { host: '::1', port: 6_380, username: 'some@one', password: 'p/w', database: 3, tls: {} },
    );
    assert.doesNotMatch(JSON.stringify(redis) + inspect(redis, { showHidden: true }), /p\/w/);
    const plain = { host: 'cache', port: 6_379, database: 0 };
    assert.deepEqual(readConfig({ REDIS_URL: 'redis://cache' }).redis, plain);
    const several = readConfig({ REDIS_URL: 'redis://:secret@a:7000,[::1],c:7002/2' }).redis;
    assert.deepEqual(
      [several?.host, several?.port, several?.database, several?.others],
      [
        'a',
        7000,
        2,
        [
          { host: '::1', port: 6379 },
          { host: 'c', port: 7002 },
        ],
      ],
    );
    const { password } = readConfig({ REDIS_URL: 'redis://:secret@cache/' }).redis ?? {};
    assert.equal(password?.reveal(), 'secret');
  });

  it('takes auto for one gateway process a core, and no number outside 1 to 64', () => {
    const { gatewayProcesses } = readConfig({ GATEWAY_PROCESSES: 'auto' });
    assert.equal(gatewayProcesses, Math.min(availableParallelism(), 64));
    assert.equal(readConfig({ GATEWAY_PROCESSES: '64' }).gatewayProcesses, 64);
    for (const text of ['0', '65', '1.5', 'all']) {
      assert.throws(() => readConfig({ GATEWAY_PROCESSES: text }), {
        message: `GATEWAY_PROCESSES is "${text}", expected a whole number from 1 to 64, or auto; correct it, or remove it for the default (1)`,
      });
    }
  });

  it('takes a blank value for none', () => {
    assert.equal(readConfig({ PORT: '  ', DATABASE_URL: '' }).apiPort, 8080);
  });

  it('gives no sign-up credit with an external database unless told to', () => {
    const external = { DATABASE_URL: 'postgres://db/gatehouse', JOIN_POLICY: 'closed', GATEHOUSE_MASTER_KEY };
    assert.equal(readConfig(external).signupCreditMicroPkr, 0n);
    assert.equal(readConfig({ ...external, SIGNUP_CREDIT_PKR: '2.5' }).signupCreditMicroPkr, 2_500_000n);
    assert.equal(readConfig({ SIGNUP_CREDIT_PKR: '0' }).signupCreditMicroPkr, 0n);
  });

  it('reads headers and the names that they are kept under, in any case, or none', () => {
    const read = (METADATA_HEADERS: string) => readConfig({ METADATA_HEADERS }).metadataHeaders;
    assert.deepEqual(
      [...read('X-Team = Team,x-run=run-id')],
      [
        ['x-team', 'team'],
        ['x-run', 'run-id'],
      ],
    );
    assert.equal(read('none').size, 0);
    for (const wrong of [
      'x-team',
      '=team',
      'x-team=',
      'x-team=a=b',
      'x team=a',
      'x-team=a b',
      'x-team=a,x-team=b',
      'authorization=who',
      'Cookie=who',
      Array.from({ length: 33 }, (_, n) => `h${n}=n`).join(','),
      `x=${'n'.repeat(65)}`,
    ]) {
      assert.throws(() => read(wrong), /^ConfigError: METADATA_HEADERS is ".*", expected up to 32 /, wrong);
    }
  });

  it('keeps requests for as many days as it is told', () => {
    assert.equal(readConfig({ TELEMETRY_RETENTION_DAYS: '36500' }).telemetryRetentionDays, 36_500);
  });

  describe('where other machines can reach it', () => {
    const chosen = { JOIN_POLICY: 'open', SIGNUP_CREDIT_PKR: '1000', TRUSTED_PROXY_HOPS: '1' };

    it('asks for what is only convenient on one machine, even where the default is meant', () => {
      for (const HOST of ['0.0.0.0', '::', '192.168.1.20', 'gatehouse.lan']) {
        const config = readConfig({ HOST, ...chosen });
        assert.deepEqual(
          [config.joinPolicy, config.signupCreditMicroPkr, config.trustedProxyHops],
          ['open', 1_000_000_000n, 1],
        );
      }
      for (const name of Object.keys(chosen)) {
        const others = Object.fromEntries(Object.entries(chosen).filter(([other]) => other !== name));
        for (const blank of [{}, { [name]: ' ' }])
          assert.throws(
            () => readConfig({ HOST: '0.0.0.0', ...others, ...blank }),
            (error: Error) =>
              error instanceof ConfigError &&
              error.message.startsWith(
                `HOST is "0.0.0.0", which other machines can reach, so choose ${name} (`,
              ) &&
              !error.message.includes(' and '),
          );
      }
    });

    it('names all that is left open in one line', () => {
      assert.throws(() => readConfig({ HOST: '0.0.0.0' }), {
        message:
          'HOST is "0.0.0.0", which other machines can reach, so choose JOIN_POLICY (open unless set; expected open, same-domain or closed) and SIGNUP_CREDIT_PKR (1000 unless set; expected an amount of PKR from 0 in plain digits, with at most 6 decimals) and TRUSTED_PROXY_HOPS (1 unless set; expected a whole number from 0 to 32)',
      });
    });

    it('has its defaults on this machine, and with an external database', () => {
      for (const HOST of ['127.0.0.1', 'localhost', '::1'])
        assert.equal(readConfig({ HOST }).trustedProxyHops, 1);
      const external = { DATABASE_URL: 'postgres://db/x', JOIN_POLICY: 'closed', GATEHOUSE_MASTER_KEY };
      assert.equal(readConfig({ HOST: '0.0.0.0', ...external }).trustedProxyHops, 1);
    });
  });

  it('reads a list of origins', () => {
    assert.deepEqual(
      readConfig({ ALLOWED_ORIGINS: 'https://App.example.com, http://localhost:3000/' }).allowedOrigins,
      new Set(['https://app.example.com', 'http://localhost:3000']),
    );
  });

  it('reads the origins whose pages may call the gateway, or a star for all', () => {
    const origins = (text: string) => readConfig({ GATEWAY_CORS_ORIGINS: text }).gatewayCorsOrigins;
    assert.deepEqual(readConfig({}).gatewayCorsOrigins, new Set());
    assert.deepEqual(
      origins('https://App.example.com, http://localhost:3000/'),
      new Set(['https://app.example.com', 'http://localhost:3000']),
    );
    assert.equal(origins(' * '), '*');
  });

  it('takes an issuer that is encrypted or on this machine, as it is spelled', () => {
    for (const issuer of [
      'https://accounts.google.com',
      'https://login.example.com/realms/a/',
      'http://localhost:9000',
      'http://127.0.0.1:9000/path',
      'http://127.9.9.9',
      'http://[::1]:9000',
    ])
      assert.equal(readConfig({ GOOGLE_ISSUER: issuer }).googleIssuer, issuer);
  });

  const faults: [Record<string, string>, RegExp][] = [
    [
      { PORT: '65536' },
      /^PORT is "65536", expected a whole number from 0 to 65535; correct it, or remove it for the default \(8080\)$/,
    ],
    [{ PORT: '80.5' }, /^PORT /],
    [{ GATEWAY_PORT: '-1' }, /^GATEWAY_PORT /],
    [{ HOST: 'two words' }, /^HOST /],
    [
      { SIGNUP_CREDIT_PKR: '1e3' },
      /^SIGNUP_CREDIT_PKR is "1e3", expected an amount of PKR from 0 in plain digits/,
    ],
    [{ SIGNUP_CREDIT_PKR: '１２' }, /^SIGNUP_CREDIT_PKR is /],
    [{ PORT: '1e3' }, /^PORT is "1e3", expected a whole number/],
    [{ PORT: '0x50' }, /^PORT is /],
    [{ PORT: '+80' }, /^PORT is /],
    [{ PORT: '８０' }, /^PORT is /],
    [{ HOST: '[::1]' }, /^HOST is "\[::1\]", expected a host name or an IP address; write HOST=::1$/],
    [{ HOST: '[::1]:80' }, /; write HOST=::1, and PORT=80$/],
    [{ HOST: 'http://localhost' }, /; write HOST=localhost$/],
    [{ HOST: 'http://localhost:9/' }, /; write HOST=localhost, and PORT=9$/],
    [{ HOST: 'http://u:hunter2@a.lan' }, /^HOST is "http:\/\/…@a\.lan", .*; write HOST=a\.lan$/],
    [{ HOST: '127.0.0.1:8080' }, /; write HOST=127\.0\.0\.1, and PORT=8080$/],
    [{ HOST: '127.0.0.1, ::1' }, /; correct it, or remove it for the default/],
    [{ HOST: 'a..b' }, /; correct it, or remove it for the default/],
    [
      { METRICS_HOST: 'https://[::]:9100' },
      /^METRICS_HOST .*; write METRICS_HOST=::, and METRICS_PORT=9100$/,
    ],
    [{ PUBLIC_GATEWAY_URL: 'https://u:hun/ter2@a.lan' }, /^PUBLIC_GATEWAY_URL is "https:\/\/…@a\.lan"/],
    [
      { SIGNUP_CREDIT_PKR: '0.0000001' },
      /^SIGNUP_CREDIT_PKR .*6 decimals; correct it, or remove it for the default$/,
    ],
    [{ ALLOWED_ORIGINS: 'https://a.example/path' }, /^ALLOWED_ORIGINS /],
    [
      { GATEWAY_CORS_ORIGINS: '*, https://a.example' },
      /^GATEWAY_CORS_ORIGINS is .*, expected origins such as/,
    ],
    [{ ALLOWED_HOSTS: 'https://a.example' }, /^ALLOWED_HOSTS is .*, expected host names such as/],
    [
      { TRUSTED_PROXIES: '10.0.0.0/33' },
      /^TRUSTED_PROXIES is "10.0.0.0\/33", expected IP addresses and ranges/,
    ],
    [{ REGISTRATIONS_PER_NETWORK: '0' }, /^REGISTRATIONS_PER_NETWORK is "0", expected a whole number from 1/],
    [{ REGISTRATIONS_PER_HOUR: 'many' }, /^REGISTRATIONS_PER_HOUR /],
    [
      { JOIN_POLICY: 'everyone' },
      /^JOIN_POLICY is "everyone", expected open, same-domain or closed; correct it/,
    ],
    [{ CLICKHOUSE_URL: 'clickhouse://user:secret@host' }, /^CLICKHOUSE_URL is "clickhouse:\/\/…@host", /],
    [
      { CLICKHOUSE_URL: 'http://u:secret@host:99999' },
      /^CLICKHOUSE_URL is "http:\/\/…@host:99999", expected [^:]*http:/,
    ],
    [
      { CLICKHOUSE_URL: 'http://h', CLICKHOUSE_CLUSTER: 'a b' },
      /^CLICKHOUSE_CLUSTER is "a b", expected a name/,
    ],
    [
      { CLICKHOUSE_URL: 'http://h', CLICKHOUSE_INSERT_QUORUM: '0' },
      /^CLICKHOUSE_INSERT_QUORUM is "0", expected a whole number from 1 to 100, or auto/,
    ],
    [
      { CLICKHOUSE_CLUSTER: 'main' },
      /^CLICKHOUSE_CLUSTER is set and CLICKHOUSE_URL is not; set CLICKHOUSE_URL too, or remove CLICKHOUSE_CLUSTER$/,
    ],
    [
      { CLICKHOUSE_URL: 'http://h', CLICKHOUSE_CA_FILE: '/ca' },
      /^CLICKHOUSE_CA_FILE is set and CLICKHOUSE_URL is not https; use https, or remove the file$/,
    ],
    [
      { CLICKHOUSE_URL: 'http://h/a', CLICKHOUSE_OWNER_URL: 'http://o@h/b' },
      /^CLICKHOUSE_URL and CLICKHOUSE_OWNER_URL name different databases; expected one$/,
    ],
    [{ CLICKHOUSE_URL: 'https://' }, /^CLICKHOUSE_URL is "https:\/\/", expected/],
    [{ DATABASE_URL: 'postgres://db/x', GATEHOUSE_MASTER_KEY }, /^JOIN_POLICY must be chosen/],
    [
      { DATABASE_URL: 'postgres://db/x', JOIN_POLICY: 'closed' },
      /^GATEHOUSE_MASTER_KEY must be set with an external DATABASE_URL, or its _FILE or _COMMAND: /,
    ],
    [
      { GATEHOUSE_MASTER_KEY: 'hunter2' },
      /^GATEHOUSE_MASTER_KEY is \(not shown\), expected 32 bytes in base64/,
    ],
    [{ GATEHOUSE_MASTER_KEY: Buffer.alloc(31).toString('base64') }, /^GATEHOUSE_MASTER_KEY is \(not shown\)/],
    [{ GATEHOUSE_NEW_MASTER_KEY: `${'A'.repeat(42)}B=` }, /^GATEHOUSE_NEW_MASTER_KEY is \(not shown\)/],
    [
      { GATEHOUSE_MASTER_KEY, GATEHOUSE_MASTER_KEY_FILE: '/k' },
      /^GATEHOUSE_MASTER_KEY and GATEHOUSE_MASTER_KEY_FILE are set; expected one of them$/,
    ],
    [
      { GATEHOUSE_NEW_MASTER_KEY_COMMAND: 'cat /k', GATEHOUSE_NEW_MASTER_KEY_FILE: '/k' },
      /^GATEHOUSE_NEW_MASTER_KEY_FILE and GATEHOUSE_NEW_MASTER_KEY_COMMAND are set; expected one of them$/,
    ],
    [
      { GATEHOUSE_MASTER_KEY_COMMAND: `aws kms --query 'Plaintext'` },
      /^GATEHOUSE_MASTER_KEY_COMMAND is \(not shown\), expected a program and its arguments/,
    ],
    [{ REDIS_URL: 'http://127.0.0.1' }, /^REDIS_URL is "http:.*", expected an address such as redis:/],
    [{ REDIS_URL: 'redis://host/x' }, /^REDIS_URL /],
    [{ REDIS_URL: 'redis://host/1024' }, /^REDIS_URL /],
    [{ REDIS_URL: 'redis://host:0' }, /^REDIS_URL /],
    [{ REDIS_URL: 'redis://a,' }, /^REDIS_URL /],
    [{ REDIS_URL: 'redis://:secret@a,b:0' }, /^REDIS_URL is "redis:\/\/…@a,b:0", /],
    [{ REDIS_URL: `redis://${Array.from({ length: 65 }, () => 'a').join()}` }, /^REDIS_URL /],
    [{ REDIS_URL: 'redis://host?tls=true' }, /^REDIS_URL /],
    [{ REDIS_URL: 'redis://user@host' }, /^REDIS_URL /],
    [{ REDIS_URL: 'redis://:%zz@host' }, /^REDIS_URL /],
    [{ REDIS_URL: 'redis:///1' }, /^REDIS_URL /],
    [{ GATEWAY_NODES: '0' }, /^GATEWAY_NODES /],
    [{ DATABASE_POOLER: 'session' }, /^DATABASE_POOLER is "session", expected none or transaction/],
    [{ DATABASE_POOLER: 'transaction' }, /^DATABASE_POOLER is .* and DATABASE_OWNER_URL is not set/],
    [{ START_TIMEOUT: '1m' }, /^START_TIMEOUT is "1m", expected a whole number from 0 to 86400/],
    [{ DATABASE_POOL_SIZE: '1' }, /^DATABASE_POOL_SIZE /],
    [{ GATEWAY_DATABASE_POOL_SIZE: '201' }, /^GATEWAY_DATABASE_POOL_SIZE /],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL /],
    [{ TLS_CERT: '/c' }, /^TLS_CERT is set and TLS_KEY is not; expected both or neither$/],
    [{ TLS_KEY: '/k' }, /^TLS_KEY is set and TLS_CERT is not; expected both or neither$/],
    [
      { TELEMETRY_RETENTION_DAYS: '0' },
      /^TELEMETRY_RETENTION_DAYS is "0", expected a whole number from 1 to 36500; correct it, or remove it for the default \(kept forever\)$/,
    ],
    [{ TELEMETRY_RETENTION_DAYS: '36501' }, /^TELEMETRY_RETENTION_DAYS /],
    [{ TELEMETRY_RETENTION_DAYS: '90d' }, /^TELEMETRY_RETENTION_DAYS /],
    [{ GOOGLE_CLIENT_ID: 'two words' }, /^GOOGLE_CLIENT_ID is "two words", expected a client id/],
    [{ GOOGLE_ISSUER: 'accounts.google.com' }, /^GOOGLE_ISSUER is \(not shown\), expected an address/],
    [{ GOOGLE_ISSUER: 'http://accounts.google.com' }, /^GOOGLE_ISSUER /],
    [{ GOOGLE_ISSUER: 'http://127.0.0.1.example.com' }, /^GOOGLE_ISSUER /],
    [{ GOOGLE_ISSUER: 'http://localhost@example.com' }, /^GOOGLE_ISSUER /],
    [{ GOOGLE_ISSUER: 'https://user:secret@example.com' }, /^GOOGLE_ISSUER is "https:\/\/…@example.com", /],
    [
      { GATEWAY_PORT: 'tcp://10.96.3.1:8081' },
      /^GATEWAY_PORT is .*; Kubernetes sets this .*enableServiceLinks: false/,
    ],
    [{ GOOGLE_ISSUER: 'https://example.com/?tenant=a' }, /^GOOGLE_ISSUER /],
    [{ GOOGLE_ISSUER: 'https://example.com/#a' }, /^GOOGLE_ISSUER /],
    [{ GOOGLE_ISSUER: 'ftp://localhost' }, /^GOOGLE_ISSUER /],
  ];
  for (const [environment, message] of faults) {
    it(`refuses ${JSON.stringify(environment)}`, () => {
      assert.throws(
        () => readConfig(environment),
        (error) => {
          assert.ok(error instanceof ConfigError);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
