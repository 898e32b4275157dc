import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Endpoint, endpoints } from '@gatehouse/contract';
import type { ApiClient } from '../testing/api-client.ts';
import { dumpTables } from '../testing/dump-tables.ts';
import { duringTests } from '../testing/during-tests.ts';
import { somePath } from '../testing/paths.ts';
import { startTestApi } from '../testing/test-api.ts';

const HOST = 'gatehouse.example';
// All that change state. That includes login, which could sign a person in to an attacker's account.
const unsafe = (endpoints as readonly Endpoint[]).filter(({ method }) => method !== 'GET');

describe('requests from another site', () => {
  const api = duringTests(() => startTestApi({ allowedOrigins: new Set(['https://console.example']) }));
  let client: ApiClient;
  let cookie: string;
  before(async () => {
    ({ client } = await api.signUp());
    cookie = `svc_access_token=${client.cookies.get('svc_access_token')}`;
  });

  const ask = (endpoint: Endpoint, site: string | undefined, origin: string | undefined) =>
    client.raw({
      method: endpoint.method,
      path: somePath(endpoint),
      headers: {
        host: HOST,
        // Logging out would end the session of the other requests.
        ...(endpoint.name === 'logout' ? {} : { cookie }),
        ...(site === undefined ? {} : { 'sec-fetch-site': site }),
        ...(origin === undefined ? {} : { origin }),
      },
    });

  for (const endpoint of unsafe) {
    it(`403 for ${endpoint.name} exactly where a header names another site`, async () => {
      for (const [site, origin, isForeign] of [
        ['cross-site', `https://${HOST}`, true],
        [undefined, 'https://sibling.example', true],
        ['same-origin', `https://${HOST}`, false],
        [undefined, undefined, false],
      ] as const) {
        const reply = await ask(endpoint, site, origin);
        assert.equal(reply.status === 403, isForeign, `${site} and ${origin}: ${reply.status} ${reply.text}`);
      }
    });

    it(`403 for ${endpoint.name} before any other check`, async () => {
      const headers = {
        'sec-fetch-site': 'cross-site',
        'content-type': 'text/plain',
        'content-length': '1',
        cookie: 'svc_access_token=a; svc_access_token=b',
      };
      const reply = await client.raw({
        method: endpoint.method,
        path: somePath(endpoint),
        headers,
        body: 'x',
      });
      assert.equal(reply.status, 403);
      assert.equal(reply.headers['set-cookie'], undefined);
    });

    it(`passes on ${endpoint.name} from an origin that the operator allows`, async () => {
      for (const origin of ['https://console.example', 'https://CONSOLE.example'])
        assert.notEqual((await ask(endpoint, 'cross-site', origin)).status, 403);
      for (const origin of ['http://console.example', 'https://console.example:444'])
        assert.equal((await ask(endpoint, 'cross-site', origin)).status, 403);
    });
  }

  it('403 for a repeated header, whatever its values', async () => {
    const headers = { cookie, 'sec-fetch-site': ['same-origin', 'same-origin'] };
    for (const endpoint of unsafe.filter(({ name }) => name !== 'logout'))
      assert.equal(
        (await client.raw({ method: endpoint.method, path: somePath(endpoint), headers })).status,
        403,
      );
  });

  it('200 for reading from another site: the browser hides the answer from that site', async () => {
    const headers = { cookie, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    const reply = await client.raw({ method: 'GET', path: '/api/members', headers });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers['access-control-allow-origin'], undefined);
  });

  it('405 for a preflight, without CORS headers', async () => {
    const reply = await client.raw({
      method: 'OPTIONS',
      path: '/api/keys',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    assert.equal(reply.status, 405);
    for (const name of Object.keys(reply.headers)) assert.ok(!name.startsWith('access-control-'), name);
  });

  it('changes nothing by a GET', async () => {
    const before = await dumpTables(api.database);
    for (const endpoint of (endpoints as readonly Endpoint[]).filter(({ method }) => method === 'GET'))
      await client.raw({ method: 'GET', path: somePath(endpoint), headers: { cookie } });
    assert.equal(await dumpTables(api.database), before);
  });
});
