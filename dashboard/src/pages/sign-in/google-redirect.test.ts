import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { authorizationUrl, readReturn } from './google-redirect.ts';

const pending = { state: 's1', nonce: 'n1', returnTo: '/keys' };

describe('signing in with Google', () => {
  it('asks for an ID token with a nonce, at the endpoint of the issuer', () => {
    const url = new URL(
      authorizationUrl('https://accounts.google.com/o/oauth2/v2/auth', {
        clientId: 'id.apps',
        origin: 'https://gatehouse.example',
        ...pending,
      }),
    );
    assert.equal(url.origin + url.pathname, 'https://accounts.google.com/o/oauth2/v2/auth');
    assert.equal(url.searchParams.get('response_type'), 'id_token');
    assert.equal(url.searchParams.get('redirect_uri'), 'https://gatehouse.example/sign-in');
    assert.equal(url.searchParams.get('nonce'), 'n1');
    assert.equal(url.searchParams.get('state'), 's1');
  });

  it('accepts the answer to its own question only', () => {
    const token = { kind: 'token', credential: 't.o.k', nonce: 'n1', returnTo: '/keys' };
    assert.deepEqual(readReturn('#state=s1&id_token=t.o.k', pending), token);
    assert.deepEqual(readReturn('#state=s2&id_token=t.o.k', pending), { kind: 'unexpected' });
    assert.deepEqual(readReturn('#state=s1&id_token=t.o.k', undefined), { kind: 'unexpected' });
    assert.deepEqual(readReturn('#state=s1&error=access_denied', pending), { kind: 'cancelled' });
    assert.equal(readReturn('#section', pending), undefined);
  });
});
