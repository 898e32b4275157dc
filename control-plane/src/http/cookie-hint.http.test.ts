import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestApi } from '../testing/test-api.ts';

describe('the hint that the session cookies cannot work', () => {
  const signIn = { method: 'POST', path: '/api/auth/login' };
  const readMe = { method: 'GET', path: '/api/auth/me' };

  it('200 with it for a sign-in over plain HTTP, and one warning under another name than localhost', async () => {
    await using api = await startTestApi();
    const { client, email, password } = await api.signUp();
    const body = JSON.stringify({ email, password });
    const hintFor = async (headers: Record<string, string>) => {
      const reply = await client.raw({
        ...signIn,
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      assert.equal(reply.status, 200);
      for (const line of [reply.headers['set-cookie'] ?? []].flat()) assert.match(line, /; Secure;/);
      return reply.headers['x-gatehouse-hint'];
    };
    const warnings = () => api.logLines.filter(({ event }) => event === 'session.cookies_over_plain_http');
    for (const host of ['localhost:8080', '127.0.0.1', '[::1]:8080', 'app.localhost'])
      assert.match(String(await hintFor({ host })), /Secure.*this machine.*may not.*Use HTTPS, or send/);
    for (const forwarded of [{ 'x-forwarded-proto': 'https' }, { 'x-forwarded-for': '203.0.113.9' }])
      assert.equal(await hintFor({ host: 'api.example', ...forwarded }), undefined);
    for (const host of ['localhost', 'api.example'])
      assert.equal(await hintFor({ host, cookie: 'svc_access_token=old' }), undefined);
    assert.equal(warnings().length, 0);
    for (const host of ['192.168.1.20:8080', 'api.example', '[2001:db8::1]']) {
      assert.match(String(await hintFor({ host })), /Secure.*plain HTTP.*Use HTTPS/);
      assert.match(String(await hintFor({ host, 'x-forwarded-proto': 'http' })), /Use HTTPS/);
    }
    assert.deepEqual(
      warnings().map(({ level }) => level),
      [40],
    );
  });

  it('401 with it for a request that came over plain HTTP and without a cookie', async () => {
    await using api = await startTestApi();
    const client = api.anonymous();
    const hintFor = async (headers: Record<string, string>, request = readMe) => {
      const reply = await client.raw({ ...request, headers });
      assert.deepEqual([reply.status, reply.text], [401, '{"detail":"Unauthorized"}']);
      return reply.headers['x-gatehouse-hint'];
    };
    assert.match(String(await hintFor({})), /^No session cookie came .* HTTPS/);
    assert.match(
      String(await hintFor({}, { method: 'POST', path: '/api/auth/refresh' })),
      /^No session cookie/,
    );
    assert.match(String(await hintFor({ host: 'api.example' })), /^No session cookie/);
    assert.equal(await hintFor({ cookie: 'svc_access_token=old' }), undefined);
    assert.equal(await hintFor({ cookie: 'svc_access_token=a; svc_access_token=b' }), undefined);
    assert.equal(await hintFor({ 'x-forwarded-proto': 'https' }), undefined);
  });

  it('401 without it for a wrong password', async () => {
    await using api = await startTestApi();
    const reply = await api.anonymous().raw({
      ...signIn,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'nobody@example.com', password: 'wrong password' }),
    });
    assert.deepEqual([reply.status, reply.headers['x-gatehouse-hint']], [401, undefined]);
  });
});
