import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { service } from '@gatehouse/contract';
import { newcomer, startGoogleApi } from '../testing/google-api.ts';
import { startTestApi } from '../testing/test-api.ts';

const AT_8081 = { version: '0.1.0', gateway_url: 'http://127.0.0.1:8081', gateway_port: 8081, oidc: null };

describe('GET /service', () => {
  it('200 without a session, with no word of who calls, and for a minute in caches', async () => {
    await using api = await startTestApi();
    const { client } = await api.signUp();
    const replies = [await api.anonymous().send(service.getService), await client.send(service.getService)];
    for (const { headers, text } of replies) {
      assert.deepEqual(JSON.parse(text), { ...AT_8081, google: null });
      assert.equal(headers['cache-control'], 'public, max-age=60');
      assert.equal(headers['set-cookie'], undefined);
    }
  });

  it('200 with null where the address of the gateway is unknown, and not cached until the port is known', async () => {
    const gateway = { url: () => undefined, port: (): number | undefined => undefined };
    await using api = await startTestApi({ gateway });
    const before = await api.anonymous().send(service.getService);
    assert.deepEqual(JSON.parse(before.text), {
      ...AT_8081,
      gateway_url: null,
      gateway_port: null,
      google: null,
    });
    assert.equal(before.headers['cache-control'], 'no-store');
    gateway.port = () => 9_000;
    const after = await api.anonymous().send(service.getService);
    assert.equal(JSON.parse(after.text).gateway_port, 9_000);
    assert.equal(after.headers['cache-control'], 'public, max-age=60');
  });

  it('200 with where to sign in with Google; the issuer is asked once', async () => {
    await using google = await startGoogleApi();
    const { clientId, issuer } = google.provider;
    const { idToken } = await google.provider.issue(newcomer(), { nonce: 'n' });
    const { status } = await google.send(idToken, { organization: 'New', nonce: 'n' });
    assert.equal(status, 200);
    for (let n = 0; n < 20; n += 1) {
      assert.deepEqual(await google.api.anonymous().call(service.getService), {
        ...AT_8081,
        google: { client_id: clientId, authorization_endpoint: `${issuer}/auth` },
      });
    }
    assert.deepEqual(google.provider.requests, { document: 1, keys: 1 });
  });

  it('200 without that while the issuer cannot be reached or does not answer, and it is not cached', async () => {
    await using google = await startGoogleApi();
    const { clientId } = google.provider;
    const nowhere = { ...AT_8081, google: { client_id: clientId, authorization_endpoint: null } };
    const release = google.provider.hold();
    const slow = await google.api.anonymous().send(service.getService);
    release();
    await google.provider.stop();
    const refused = await google.api.anonymous().send(service.getService);
    await google.provider.start();
    for (const { headers, text } of [slow, refused]) {
      assert.deepEqual(JSON.parse(text), nowhere);
      assert.equal(headers['cache-control'], 'no-store');
    }
  });
});
