import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../config/config.ts';
import { isSupervised } from '../process/supervised.ts';
import { type ProviderState, type State, welcome } from './welcome.ts';

const config = readConfig({});
const running = {
  apiPort: 8080,
  gatewayPort: 8081,
  descriptions: { postgres: 'embedded', clickhouse: 'embedded', telemetryFailure: undefined },
};
const demo: ProviderState = { name: 'demo', unset: [], hasKey: true, isBuiltIn: true };
const openai = (hasKey: boolean): ProviderState => ({
  name: 'openai',
  unset: hasKey ? [] : ['OPENAI_API_KEY'],
  hasKey,
  isBuiltIn: false,
});

const text = (state: Partial<State>, part: Partial<typeof running> = {}) =>
  welcome(
    config,
    {},
    { ...running, ...part },
    { hasOrganizations: true, providers: [demo], ...state },
    1_234,
  );

describe('the start text', () => {
  it('says where everything is', () => {
    assert.match(
      text({}),
      /^Gatehouse is ready \(1\.2 s\)\.\n\n {2}Dashboard +http:\/\/127\.0\.0\.1:8080\n {2}API +http:\/\/127\.0\.0\.1:8080\/api\n {2}Gateway +http/,
    );
  });

  it('says where the rates are counted', () => {
    const shown = (environment: Record<string, string>) =>
      welcome(
        readConfig(environment),
        environment,
        running,
        { hasOrganizations: true, providers: [demo] },
        1,
      );
    assert.match(shown({}), /Rate limits +counted by each gateway process\n/);
    assert.match(shown({ GATEWAY_PROCESSES: '2' }), /Rate limits +counted over 2 gateway processes\n/);
    const inRedis = shown({ REDIS_URL: 'rediss://me:hidden@redis.internal:6380', GATEWAY_PROCESSES: '2' });
    assert.match(inRedis, /Rate limits +counted in Redis at redis\.internal:6380\n/);
    assert.doesNotMatch(inRedis, /hidden/);
  });

  it('leads to an account where there is none, and to what is there otherwise', () => {
    const fresh = text({ hasOrganizations: false });
    assert.match(fresh, /Next: register an account[\s\S]*8080\/api\/auth\/register[\s\S]*npx gatehouse demo/);
    assert.doesNotMatch(text({}), /register/);
    assert.match(text({}), /Next: sign in at http:\/\/127\.0\.0\.1:8080, or/);
  });

  it('prints commands that act on this installation from another terminal', () => {
    const shown = (environment: Record<string, string>, hasOrganizations: boolean) =>
      welcome(readConfig(environment), environment, running, { hasOrganizations, providers: [demo] }, 1);
    const LOOK = { DATA_DIR: '/tmp/look' };
    assert.match(shown(LOOK, true), /there: DATA_DIR=\/tmp\/look npx gatehouse org list\n/);
    // 0 took the ports that are running.
    assert.match(
      shown({ ...LOOK, PORT: '0', GATEWAY_PORT: '0' }, false),
      /: DATA_DIR=\/tmp\/look PORT=8080 GATEWAY_PORT=8081 npx gatehouse demo\n/,
    );
    const external = {
      DATABASE_URL: 'postgres://me:hidden@db/x',
      JOIN_POLICY: 'closed',
      GATEHOUSE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    assert.match(
      shown(external, true),
      /, or look at what is there, with the same DATABASE_URL: npx gatehouse org list\n/,
    );
    // The demo is for the embedded stores.
    assert.doesNotMatch(shown(external, false), /hidden|gatehouse demo/);
    assert.doesNotMatch(shown({ CLICKHOUSE_URL: 'http://clickhouse' }, false), /gatehouse demo/);
  });

  it('advises nothing that a container or a unit of systemd does not have', () => {
    for (const environment of [
      { INVOCATION_ID: 'a1', JOURNAL_STREAM: '9:1' },
      { container: 'podman' },
      { KUBERNETES_SERVICE_HOST: '10.0.0.1' },
    ]) {
      const shown = (hasOrganizations: boolean) =>
        welcome(config, environment, running, { hasOrganizations, providers: [demo, openai(false)] }, 1);
      for (const one of [shown(true), shown(false)]) assert.doesNotMatch(one, /Ctrl-C|npx|npm|\.env/);
      assert.match(shown(true), /: \S+node \S+\/cli\/bin\/gatehouse\.mjs org list\n/);
      assert.match(shown(false), /Next: register an account/);
      assert.match(shown(false), /\nSet one of the variables above and start again, or let an organisation /);
    }
    assert.equal(isSupervised({}, 1), true);
    assert.equal(isSupervised({ INVOCATION_ID: 'a1' }, 2), false);
    assert.match(text({}), /Ctrl-C stops it\.\n$/);
  });

  it('names no page where the dashboard is off', () => {
    const off = (hasOrganizations: boolean) =>
      welcome(readConfig({ DASHBOARD: 'off' }), {}, running, { hasOrganizations, providers: [demo] }, 1);
    assert.doesNotMatch(off(true), /Dashboard|8080[, ]/);
    assert.match(off(true), /Next: sign in, or/);
    assert.match(off(false), /Next: register an account \(/);
  });

  it('says which providers can be used, and which variable the others need', () => {
    const some = text({ providers: [demo, openai(false)] });
    assert.match(some, /Providers +demo can be used\n +openai needs OPENAI_API_KEY\n/);
    assert.match(
      some,
      /demo\/echo answers requests; it needs none\.\nPut one of the variables above into a file named \.env/,
    );
    assert.match(
      text({ providers: [openai(false)] }),
      /none can be used yet[\s\S]*No request can be answered yet/,
    );
    const pool = { ...openai(false), unset: ['OPENAI_API_KEY', 'OPENAI_API_KEY_2'] };
    assert.match(text({ providers: [pool] }), /openai needs OPENAI_API_KEY or OPENAI_API_KEY_2\n/);
    const part = text({ providers: [{ ...openai(true), unset: ['OPENAI_API_KEY_2'] }] });
    assert.match(part, /openai can be used\n +openai goes without OPENAI_API_KEY_2\n/);
    const all = text({ providers: [demo, openai(true)] });
    assert.match(all, /demo, openai can be used\n/);
    assert.doesNotMatch(all, /demo\/echo|\.env/);
  });

  it('says why ClickHouse does not answer, and what that means', () => {
    const failed = { postgres: 'embedded', clickhouse: 'external', telemetryFailure: 'refused\u001b[2J' };
    assert.match(
      welcome(
        config,
        {},
        { ...running, descriptions: failed },
        { hasOrganizations: true, providers: [demo] },
        1,
      ),
      /ClickHouse +external\n +does not answer: refused\\u\{1b\}\[2J\n +requests are served [^\n]*analytics answer 503/,
    );
    assert.doesNotMatch(text({}), /does not answer/);
  });

  it('says over how many processes rates are counted', () => {
    assert.match(text({}), /Rate limits +counted by each gateway process\n/);
    const several = readConfig({ GATEWAY_PROCESSES: '4' });
    assert.match(
      welcome(several, {}, running, { hasOrganizations: true, providers: [demo] }, 1),
      /Rate limits +counted over 4 gateway processes\n/,
    );
  });

  it('warns where other machines can reach it over plain HTTP', () => {
    const chosen = { HOST: '0.0.0.0', JOIN_POLICY: 'open', SIGNUP_CREDIT_PKR: '0', TRUSTED_PROXY_HOPS: '1' };
    const shown = (environment: Record<string, string>) =>
      welcome(
        readConfig({ ...chosen, ...environment }),
        { ...chosen, ...environment },
        running,
        { hasOrganizations: true, providers: [demo] },
        1,
      );
    const WARNING =
      /\nWarning: HOST is 0\.0\.0\.0, which other machines can reach, over plain HTTP: .* TLS_CERT /;
    assert.match(shown({}), WARNING);
    assert.match(shown({ TRUSTED_PROXY_HOPS: '0', TRUSTED_PROXIES: '10.0.0.1' }), WARNING);
    assert.doesNotMatch(shown({ TRUSTED_PROXIES: '10.0.0.1' }), /Warning/);
    assert.doesNotMatch(shown({ HOST: '127.0.0.1' }), /Warning/);
    const encrypted = shown({ TLS_CERT: '/c', TLS_KEY: '/k' });
    assert.match(encrypted, /API +https:\/\/0\.0\.0\.0:8080\/api\n/);
    assert.doesNotMatch(encrypted, /Warning/);
  });

  it('leaves out what a single part has nothing to do with', () => {
    const gateway = text({ hasOrganizations: false }, { apiPort: undefined as unknown as number });
    assert.doesNotMatch(gateway, /API |Dashboard|register/);
    assert.match(gateway, /Providers/);
    assert.doesNotMatch(text({}, { gatewayPort: undefined as unknown as number }), /Gateway|Providers/);
  });

  it('shows a name of a catalogue safely', () => {
    const evil = { ...openai(false), name: 'a\u001b[2J' };
    assert.ok(!text({ providers: [evil] }).includes('\u001b'));
  });
});
