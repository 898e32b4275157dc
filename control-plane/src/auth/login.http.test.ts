import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { activity, auth } from '@gatehouse/contract';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

describe('POST /auth/login', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api[Symbol.asyncDispose]());

  it('200 with the account and both cookies, which open the API', async () => {
    const { client, email, organizationId } = await api.signUp();
    const reply = await client.send(auth.login, {
      body: { email: ` ${email.toUpperCase()} `, password: 'correct horse battery staple' },
    });
    assert.equal(reply.status, 200);
    assert.equal(JSON.parse(reply.text).organization.id, organizationId);
    const cookies = [reply.headers['set-cookie']].flat();
    assert.match(
      String(cookies[0]),
      /^svc_access_token=[\w-]{43}; Path=\/; Max-Age=900; HttpOnly; Secure; SameSite=Lax$/,
    );
    assert.match(
      String(cookies[1]),
      /^svc_refresh_token=[\w-]{43}; Path=\/api\/auth; Max-Age=604800; HttpOnly; Secure; SameSite=Lax$/,
    );
    assert.equal((await client.call(auth.me)).user.email, email);
    const { events } = await client.call(activity.listActivity);
    assert.deepEqual(
      events.map((event) => event.action),
      ['user.login', 'user.login', 'budget.deposited', 'member.joined'],
    );
  });
});
