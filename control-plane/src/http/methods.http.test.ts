import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Endpoint, endpoints } from '@gatehouse/contract';
import type { ApiClient, RawReply } from '../testing/api-client.ts';
import { duringTests } from '../testing/during-tests.ts';
import { somePath } from '../testing/paths.ts';
import { startTestApi } from '../testing/test-api.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];

const IDS = [...`x %00 %ff %zz %2F ..%2f %F0%9F%98%80 ' {a}`.split(' '), 'a'.repeat(10_000)];

// Headers about a body must not change the answer to a wrong method or path.
const CLAIMS = [
  {},
  { 'content-type': ';;;', 'content-length': '0' },
  { 'content-type': 'text/plain', 'content-encoding': 'gzip' },
] satisfies Record<string, string>[];

describe('methods and paths', () => {
  const api = duringTests(startTestApi);
  let anonymous: ApiClient;
  before(async () => {
    anonymous = api.anonymous();
  });

  for (const [path, same] of Map.groupBy(endpoints as readonly Endpoint[], ({ path }) => path)) {
    const allowed = same.map(({ method }) => method as string).sort();
    it(`405 with Allow: ${allowed.join(', ')} for every other method of ${path}`, async () => {
      for (const method of METHODS.filter((name) => !allowed.includes(name))) {
        for (const headers of CLAIMS) {
          const [endpoint] = same;
          assert.ok(endpoint);
          const reply = await anonymous.raw({ method, path: `${somePath(endpoint)}?x=1`, headers });
          assert.equal(reply.status, 405, `${method} ${path} answered ${reply.status}`);
          assert.equal(reply.headers['allow'], allowed.join(', '));
          const said = JSON.stringify({ error: `This path accepts ${allowed.join(', ')} only.` });
          assert.equal(reply.text, method === 'HEAD' ? '' : said);
        }
      }
    });
  }

  it('200 at / says where the API is', async () => {
    const reply = await anonymous.raw({ method: 'GET', path: '/' });
    assert.equal(reply.status, 200);
    assert.match(reply.text, /POST \/api\/auth\/login/);
  });

  for (const path of ['/', '/healthz', '/readyz']) {
    it(`405 with Allow: GET for every other method of ${path}`, async () => {
      for (const method of METHODS.filter((name) => name !== 'GET')) {
        const reply = await anonymous.raw({ method, path });
        assert.equal(reply.status, 405);
        assert.equal(reply.headers['allow'], 'GET');
      }
    });
  }

  for (const path of [
    ...'/api /api/ /api/nothing /api/members/ /api//members //api/members /API/members'.split(' '),
    ...'/api/Members /api/members/x /api/../api/members /api/./members /api/members%20'.split(' '),
    ...'/api/members%2F /api%2Fmembers /api/members%00 /api/%zz /api/% /api/%ff'.split(' '),
    ...'/api/%ED%A0%80 /api/%F0%9F%98%80 /members /healthz/ /api/healthz /.env /etc/passwd'.split(' '),
    ...'/api/..%2f..%2fetc/passwd /__proto__ /api/constructor'.split(' '),
  ]) {
    it(`404 for ${path}, whatever the method`, async () => {
      for (const method of METHODS) {
        for (const headers of CLAIMS) assertUnknown(await anonymous.raw({ method, path, headers }), method);
      }
    });
  }

  it('404 for a path of the maximum length', async () => {
    assertUnknown(await anonymous.raw({ method: 'GET', path: `/api/${'a'.repeat(15_000)}` }), 'GET');
    assertUnknown(await anonymous.raw({ method: 'GET', path: `/api/keys/x/${'%41'.repeat(4_000)}` }), 'GET');
  });

  it('404 for an asterisk', async () => {
    assertUnknown(await anonymous.raw({ method: 'OPTIONS', path: '*' }), 'OPTIONS');
  });

  it('405 for a known path with escapes', async () => {
    const reply = await anonymous.raw({ method: 'PUT', path: '/api/%6Dembers' });
    assert.equal(reply.status, 405);
    assert.equal((await anonymous.raw({ method: 'GET', path: '/api/%6Dembers' })).status, 401);
  });

  it('401 and not 404 for a path parameter of any spelling, without a session', async () => {
    for (const id of IDS) {
      const reply = await anonymous.raw({ method: 'DELETE', path: `/api/keys/${id}` });
      assert.equal(reply.status, 401, id);
      assert.equal(reply.text, '{"detail":"Unauthorized"}');
    }
  });

  it('404 with the same body for all unknown path parameters, with a session', async () => {
    const { client } = await api.signUp();
    const cookie = `svc_access_token=${client.cookies.get('svc_access_token')}`;
    for (const id of IDS) {
      const reply = await client.raw({ method: 'DELETE', path: `/api/keys/${id}`, headers: { cookie } });
      assert.equal(reply.status, 404, id);
      assert.equal(reply.text, '{"error":"Key not found."}');
    }
  });
});

function assertUnknown(reply: RawReply, method: string): void {
  assert.equal(reply.status, 404);
  assert.equal(reply.headers['allow'], undefined);
  assert.equal(reply.text, method === 'HEAD' ? '' : '{"error":"Path not found."}');
}
