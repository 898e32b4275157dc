import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Endpoint, endpoints } from '@gatehouse/contract';
import { dumpTables } from '../testing/dump-tables.ts';
import { duringTests } from '../testing/during-tests.ts';
import { somePath } from '../testing/paths.ts';
import { type SignedUp, startTestApi } from '../testing/test-api.ts';

describe('a repeated session cookie', () => {
  const api = duringTests(startTestApi);
  let one: SignedUp;
  let access: string;
  let refresh: string;
  let evil: string;
  before(async () => {
    one = await api.signUp();
    access = `svc_access_token=${one.client.cookies.get('svc_access_token')}`;
    refresh = `svc_refresh_token=${one.client.cookies.get('svc_refresh_token')}`;
    const other = await api.signUp();
    evil = `svc_access_token=${other.client.cookies.get('svc_access_token')}`;
  });

  for (const endpoint of endpoints as readonly Endpoint[]) {
    it(`401 for ${endpoint.name}, in one header or in two, and nothing is changed`, async () => {
      const before = await dumpTables(api.database);
      for (const cookie of [
        `${access}; ${evil}`,
        `${evil}; ${access}`,
        `${access}; ${access}`,
        `${access}; svc_access_token=`,
        `${access}; ${refresh}; ${refresh}`,
        `${access}; ${refresh}; svc_refresh_token=x`,
        [access, evil],
        [access, refresh, 'theme=dark', refresh],
      ]) {
        const { method } = endpoint;
        const reply = await one.client.raw({ method, path: somePath(endpoint), headers: { cookie } });
        assert.equal(reply.status, 401);
        assert.equal(reply.text, '{"detail":"Unauthorized"}');
        assert.equal(reply.headers['set-cookie'], undefined);
      }
      assert.equal(await dumpTables(api.database), before);
    });
  }

  it('200 for the same cookies once each, in one header or in two', async () => {
    for (const cookie of [`${access}; ${refresh}`, [access, refresh], `a=1; ${access}; a=2`, `${access};`]) {
      const reply = await one.client.raw({ method: 'GET', path: '/api/auth/me', headers: { cookie } });
      assert.equal(reply.status, 200);
      assert.equal(JSON.parse(reply.text).user.user_id, one.userId);
    }
  });
});
