import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Endpoint, ErrorBody, endpoints } from '@gatehouse/contract';
import type { ApiClient } from '../testing/api-client.ts';
import { duringTests } from '../testing/during-tests.ts';
import { somePath } from '../testing/paths.ts';
import { dumpTables } from '../testing/sql.ts';
import { startTestApi } from '../testing/test-api.ts';

const HOST = 'gatehouse.example';
const SITES = [undefined, 'same-origin', 'same-site', 'cross-site', 'none', '', 'Same-Origin', 'unknown'];
const ORIGINS = [undefined, `https://${HOST}`, 'https://sibling.example', 'null'];

const isForeign = (site: string | undefined, origin: string | undefined) =>
  site === undefined
    ? origin !== undefined && origin !== `https://${HOST}`
    : site !== 'same-origin' && site !== 'none';

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
    it(`403 for ${endpoint.name} exactly where the browser reports another site`, async () => {
      for (const site of SITES) {
        for (const origin of ORIGINS) {
          const reply = await ask(endpoint, site, origin);
          const combination = `${site} and ${origin}: ${reply.status} ${reply.text}`;
          assert.equal(reply.status === 403, isForeign(site, origin), combination);
          if (reply.status === 403) assert.ok(ErrorBody.safeParse(JSON.parse(reply.text)).success);
        }
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
      for (const site of SITES) {
        assert.notEqual((await ask(endpoint, site, 'https://console.example')).status, 403);
        assert.notEqual((await ask(endpoint, site, 'https://CONSOLE.example')).status, 403);
      }
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
