import assert from 'node:assert/strict';
import { createHmac, createPublicKey, randomBytes, randomUUID } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { auth } from '@gatehouse/contract';
import { CompactSign, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { comparable } from '../testing/comparable.ts';
import { dumpTables } from '../testing/dump-tables.ts';
import { duringTests } from '../testing/during-tests.ts';
import { errorOf, newcomer, startGoogleApi } from '../testing/google-api.ts';
import { newSigningKey } from '../testing/openid-provider.ts';

// Tokens that Google did not issue, or not for this client. Most are signed with the provider's own key, so that exactly one
// thing is wrong with each. `google-rules.test.ts` has every claim and header; here is one of each kind.

const REFUSED = '{"error":"Invalid Google credential."}';

describe('a token that is not a Google sign-in for this client', () => {
  const google = duringTests(startGoogleApi);
  const account = newcomer({ email: 'victim@gmail.com' });
  before(async () => {
    const { idToken } = await google.provider.issue(account);
    assert.equal((await google.send(idToken, { organization: 'Victim' })).status, 200);
  });

  const nowSeconds = () => Math.floor(Date.now() / 1000);
  const claims = (): JWTPayload => ({
    ...account,
    iss: google.provider.issuer,
    aud: google.provider.clientId,
    iat: nowSeconds(),
    exp: nowSeconds() + 3_600,
  });
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

  /** Signs as the provider does, with the given changes. Undefined removes a claim or a part of the header. */
  async function sign(given: {
    payload?: Record<string, unknown>;
    header?: Record<string, unknown>;
    key?: JWK;
  }): Promise<string> {
    const { payload = {}, header = {}, key = google.provider.signingKey } = given;
    const whole = (parts: object) => JSON.parse(JSON.stringify(parts));
    return new SignJWT(whole({ ...claims(), ...payload }))
      .setProtectedHeader(whole({ alg: 'RS256', kid: google.provider.signingKey.kid, ...header }))
      .sign(await importJWK(key, String(header['alg'] ?? 'RS256')), { crit: { extra: true } });
  }

  /** The answer to a token that must be rejected. Asserts that nothing was stored. */
  async function refused(credential: string, nonce?: string) {
    const rows = await dumpTables(google.api.database);
    const from = google.api.anonymous();
    const reply = await google.send(credential, {
      organization: 'Forger',
      from,
      ...(nonce === undefined ? {} : { nonce }),
    });
    assert.deepEqual([reply.status, reply.text], [401, REFUSED]);
    assert.equal(reply.headers['set-cookie'], undefined);
    assert.equal(await dumpTables(google.api.database), rows);
    return comparable(reply);
  }

  it('200 for one that the test signs with nothing wrong in it', async () => {
    assert.equal((await google.send(await sign({}))).status, 200);
    assert.equal((await google.send(await sign({ header: { typ: 'JWT' } }))).status, 200);
  });

  it('401 with the same bytes, whatever is wrong', async () => {
    const { provider } = google;
    const attacker = newSigningKey();
    const { d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, ...publicJwk } = provider.signingKey;
    const pem = createPublicKey({ key: publicJwk as Record<string, string>, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    });
    const { d: _secret, ...attackersPublic } = attacker;
    const [header = '', payload = '', signature = ''] = (await sign({})).split('.');
    const kid = provider.signingKey.kid;
    const withSecret = (secret: string | Buffer) => {
      const signed = `${encoded({ alg: 'HS256', kid })}.${encoded(claims())}`;
      return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
    };
    const forged: Record<string, string | Promise<string>> = {
      'alg none': `${encoded({ alg: 'none', kid })}.${payload}.`,
      'alg none with a signature': `${encoded({ alg: 'none', kid })}.${payload}.${signature}`,
      'alg NONE': `${encoded({ alg: 'NONE', kid })}.${payload}.x`,
      'HS256 with the public key as PEM': withSecret(pem),
      'HS256 with the public key as JWK': withSecret(JSON.stringify(publicJwk)),
      'HS256 with the modulus': withSecret(Buffer.from(String(publicJwk.n), 'base64url')),
      'HS256 with nothing': withSecret(''),
      'another algorithm of the same key': sign({
        header: { alg: 'RS512' },
        key: { ...provider.signingKey, alg: 'RS512' },
      }),
      'another padding of the same key': sign({
        header: { alg: 'PS256' },
        key: { ...provider.signingKey, alg: 'PS256' },
      }),
      'another audience': sign({ payload: { aud: 'another.apps.example' } }),
      'another authorised party': sign({ payload: { azp: provider.otherClientId } }),
      'another issuer': sign({ payload: { iss: 'https://accounts.google.com' } }),
      expired: sign({ payload: { iat: nowSeconds() - 3_661, exp: nowSeconds() - 61 } }),
      'issued in the future': sign({ payload: { iat: nowSeconds() + 90 } }),
      'address not verified': sign({ payload: { email_verified: false } }),
      'no subject': sign({ payload: { sub: undefined } }),
      'another key by its own name': sign({ key: attacker, header: { kid: attacker.kid } }),
      'another key by the right name': sign({ key: attacker }),
      'no name of a key': sign({ header: { kid: undefined } }),
      'a key of its own': sign({ key: attacker, header: { jwk: attackersPublic } }),
      'a key of its own beside the right one': sign({ header: { jwk: attackersPublic } }),
      'an address of keys': sign({ key: attacker, header: { jku: 'https://attacker.example/jwks' } }),
      'the right address of keys': sign({ header: { jku: `${provider.issuer}/jwks` } }),
      'an access token': provider.issue(account).then(({ accessToken }) => accessToken),
      'an ID token of another client': provider
        .issue(account, { clientId: provider.otherClientId })
        .then(({ idToken }) => idToken),
      'an ID token with an unverified address': provider
        .issue({ ...account, email_verified: false })
        .then(({ idToken }) => idToken),
      'another payload under a signature': `${header}.${encoded({ ...claims(), sub: 'x' })}.${signature}`,
      'another header over a signature': `${encoded({ alg: 'RS256', kid, typ: 'JWT' })}.${payload}.${signature}`,
      'half a signature': `${header}.${payload}.${signature.slice(0, signature.length / 2)}`,
      'no signature': `${header}.${payload}.`,
      'a payload that is no JSON': new CompactSign(Buffer.from('claims'))
        .setProtectedHeader({ alg: 'RS256', kid: String(kid) })
        .sign(await importJWK(provider.signingKey, 'RS256')),
      'a payload that is no object': new CompactSign(Buffer.from('["claims"]'))
        .setProtectedHeader({ alg: 'RS256', kid: String(kid) })
        .sign(await importJWK(provider.signingKey, 'RS256')),
    };
    const answers = new Map<string, unknown>();
    for (const [what, token] of Object.entries(forged)) {
      answers.set(
        what,
        await refused(await token).catch((error) => Promise.reject(new Error(what, { cause: error }))),
      );
    }
    answers.set('a nonce that it lacks', await refused(await sign({}), 'n'));
    answers.set('another nonce', await refused(await sign({ payload: { nonce: 'n' } }), 'm'));
    const [first] = answers.values();
    for (const [what, answer] of answers) assert.deepEqual(answer, first, what);
  });

  it('400 or 401 for malformed credentials, and nothing is stored', async () => {
    const rows = await dumpTables(google.api.database);
    const parts = (await sign({})).split('.');
    const rubbish = [
      '',
      '.',
      '..',
      '...',
      'a.b.c',
      'a.b.c.d.e',
      ' ',
      'null',
      '{}',
      encoded({ alg: 'RS256' }),
      `${encoded(null)}.${parts[1]}.${parts[2]}`,
      `${encoded([])}.${parts[1]}.${parts[2]}`,
      `${encoded('RS256')}.${parts[1]}.${parts[2]}`,
      `${Buffer.from([0xff, 0xfe]).toString('base64url')}.${parts[1]}.${parts[2]}`,
      `${encoded({ alg: 'RS256', kid: 'x'.repeat(40_000) })}.${parts[1]}.${parts[2]}`,
      `${encoded({ alg: 'RS256', kid: '__proto__' })}.${parts[1]}.${parts[2]}`,
      `${parts[0]}.${'['.repeat(40_000)}.${parts[2]}`,
      `${parts[0]}.${parts[1]}.${'A'.repeat(60_000)}`,
      `${parts[0]}.${parts[1]}`,
      `.${parts[1]}.${parts[2]}`,
      `${parts.join('.')}.`,
      parts.join('. '),
      parts.join('.\n'),
      `${parts.join('.')}=`,
      `+/${parts.join('.')}`,
      'ä.ö.ü',
      '🔑.🔑.🔑',
      '\ud800.a.b',
      'a\u0000.b.c',
      '.'.repeat(65_000),
      'x'.repeat(65_000),
      ...Array.from({ length: 100 }, (_, n) => randomBytes(n).toString(n % 2 ? 'base64url' : 'latin1')),
      ...Array.from({ length: 100 }, (_, n) =>
        parts.map((part, index) => (n % 3 === index ? randomBytes(n).toString('base64url') : part)).join('.'),
      ),
    ];
    for (const credential of rubbish) {
      const reply = await google.send(credential, { organization: 'Rubbish' });
      const shown = JSON.stringify(credential).slice(0, 80);
      assert.ok(reply.status === 401 || reply.status === 400, `${reply.status} ${reply.text} for ${shown}`);
      if (reply.status === 401) assert.equal(reply.text, REFUSED);
      else assert.ok('detail' in JSON.parse(reply.text), shown);
    }
    const large = await google.api
      .anonymous()
      .send(auth.google, { body: { credential: 'x'.repeat(65_536) } });
    assert.equal(large.status, 413);
    assert.equal(await dumpTables(google.api.database), rows);
  });
});

describe('the keys of the issuer', () => {
  it('401 for 1,000 tokens with unknown keys, for which they are fetched twice at most', async () => {
    await using google = await startGoogleApi();
    const key = await importJWK(newSigningKey(), 'RS256');
    const unknown = () =>
      new SignJWT({ sub: 'x' }).setProtectedHeader({ alg: 'RS256', kid: randomUUID() }).sign(key);
    const tokens = await Promise.all(Array.from({ length: 1_000 }, unknown));
    const statuses = new Set<number>();
    for (let from = 0; from < tokens.length; from += 100) {
      const replies = await Promise.all(tokens.slice(from, from + 100).map((token) => google.send(token)));
      for (const { status } of replies) statuses.add(status);
    }
    assert.deepEqual([...statuses], [401]);
    assert.deepEqual(google.provider.requests, { document: 1, keys: 2 });
    // Half a minute later once more.
    google.clock.ms += 30_000;
    await Promise.all(tokens.slice(0, 100).map((token) => google.send(token)));
    assert.deepEqual(google.provider.requests, { document: 1, keys: 3 });
    // A valid token still works.
    const { idToken } = await google.provider.issue(newcomer());
    assert.equal((await google.send(idToken, { organization: 'Real' })).status, 200);
  });

  it('200 for a new key at once, and for the next one when the cool-down is over; 401 for the old ones', async () => {
    await using google = await startGoogleApi();
    const account = newcomer();
    const issue = async () => (await google.provider.issue(account)).idToken;
    const old = await issue();
    assert.equal((await google.send(old, { organization: 'Rotation' })).status, 200);
    google.provider.rotateKey();
    const fresh = await issue();
    assert.equal((await google.send(fresh)).status, 200);
    errorOf(await google.send(old), 401);
    google.provider.rotateKey();
    const next = await issue();
    errorOf(await google.send(next), 401);
    assert.equal((await google.send(fresh)).status, 200);
    google.clock.ms += 30_000;
    assert.equal((await google.send(next)).status, 200);
    errorOf(await google.send(fresh), 401);
    assert.deepEqual(google.provider.requests, { document: 1, keys: 3 });
  });

  it('503 with Retry-After while the issuer is unavailable, and 200 once it is back', async () => {
    await using google = await startGoogleApi();
    const { idToken } = await google.provider.issue(newcomer());
    await google.provider.stop();
    const rows = await dumpTables(google.api.database);
    for (const [ms, retryAfter] of [
      [0, '5'],
      [1_000, '4'],
      [3_500, '1'],
    ] as const) {
      google.clock.ms += ms;
      const reply = await google.send(idToken, { organization: 'Away' });
      assert.match(errorOf(reply, 503), /cannot be asked/);
      assert.equal(reply.headers['retry-after'], retryAfter);
      // A malformed token needs no issuer to be rejected.
      errorOf(await google.send('a.b.c'), 401);
    }
    assert.equal(await dumpTables(google.api.database), rows);
    await google.provider.start();
    errorOf(await google.send(idToken, { organization: 'Away' }), 503);
    google.clock.ms += 500;
    assert.equal((await google.send(idToken, { organization: 'Away' })).status, 200);
    assert.deepEqual(google.provider.requests, { document: 1, keys: 1 });
    // Cached keys need no issuer.
    await google.provider.stop();
    assert.equal((await google.send(idToken)).status, 200);
    await google.provider.start();
  });

  it('200 for everything else while the issuer does not answer, however many wait for it', async () => {
    await using google = await startGoogleApi();
    const { client } = await google.api.signUp();
    const { idToken } = await google.provider.issue(newcomer());
    const release = google.provider.hold();
    // More than there are connections to the database.
    const waiting = Array.from({ length: 30 }, () => google.send(idToken, { organization: 'Waiting' }));
    await google.provider.heldBack();
    for (let n = 0; n < 20; n += 1) await client.call(auth.me);
    release();
    for (const { status } of await Promise.all(waiting)) assert.equal(status, 200);
    assert.deepEqual(google.provider.requests, { document: 1, keys: 1 });
  });
});
