import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { runSql } from '@gatehouse/store/testing';
import type { RawReply } from '../testing/api-client.ts';
import { duringTests } from '../testing/during-tests.ts';
import { newcomer } from '../testing/google-api.ts';
import { type Answering, type LyingIssuer, startLyingIssuer } from '../testing/lying-issuer.ts';
import {
  assertFailed,
  Browser,
  locationOf,
  OIDC_CALLBACK,
  oidcSettings,
  PUBLIC_URL,
  startOidcApi,
} from '../testing/oidc-api.ts';
import { newSigningKey } from '../testing/openid-provider.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

describe('an attack on a sign-in by OpenID Connect', () => {
  const oidc = duringTests(() => startOidcApi());

  it('by an answer that was used already, in the same browser and in another', async () => {
    const browser = oidc.browser();
    const answered = await oidc.provider.visit(await browser.begin(), newcomer());
    const kept = new Map(browser.cookies);
    assert.equal(locationOf(await browser.open(answered)), '/');
    const thief = oidc.browser();
    await assertFailed(thief, await thief.open(answered), 'expired');
    // The back button: the cookie of the flow is gone.
    assert.equal(locationOf(await browser.open(answered)), '/sign-in?error=expired');
    const copy = oidc.browser();
    for (const [name, value] of kept) copy.cookies.set(name, value);
    await assertFailed(copy, await copy.open(answered), 'invalid_answer');
  });

  it('by an answer for another browser, which would sign the victim in as the attacker', async () => {
    const attacker = oidc.browser();
    const answered = await oidc.provider.visit(await attacker.begin(), newcomer());
    const victim = oidc.browser();
    await victim.begin();
    await assertFailed(victim, await victim.open(answered), 'expired');
  });

  it('by a stolen code in a flow of the thief: the code verifier is another one', async () => {
    const victim = oidc.browser();
    const answered = await oidc.provider.visit(await victim.begin(), newcomer());
    const thief = oidc.browser();
    const own = new URL(await thief.begin());
    answered.searchParams.set('state', own.searchParams.get('state') ?? '');
    await assertFailed(thief, await thief.open(answered), 'invalid_answer');
  });

  it('by an answer in the name of another issuer', async () => {
    const browser = oidc.browser();
    const answered = await oidc.provider.visit(await browser.begin(), newcomer());
    answered.searchParams.set('iss', 'https://attacker.example');
    await assertFailed(browser, await browser.open(answered), 'invalid_answer');
    const other = oidc.browser();
    const unnamed = await oidc.provider.visit(await other.begin(), newcomer());
    unnamed.searchParams.delete('iss');
    await assertFailed(other, await other.open(unnamed), 'invalid_answer');
  });

  it('by repeated and malformed parameters', async () => {
    for (const change of [
      (query: URLSearchParams) => query.append('code', 'another'),
      (query: URLSearchParams) => query.delete('code'),
      (query: URLSearchParams) => query.set('code', ''),
      (query: URLSearchParams) => query.set('response', 'e30.e30.e30'),
      (query: URLSearchParams) => query.set('code', 'x'.repeat(4_000)),
    ]) {
      const browser = oidc.browser();
      const answered = await oidc.provider.visit(await browser.begin(), newcomer());
      change(answered.searchParams);
      await assertFailed(browser, await browser.open(answered), 'invalid_answer');
    }
    for (const query of [
      '',
      '?state=',
      `?state=${'a'.repeat(43)}`,
      '?state=%00',
      `?code=a&state=${'é'.repeat(43)}`,
    ]) {
      const browser = oidc.browser();
      await browser.begin();
      await assertFailed(browser, await browser.open(`/api/auth/oidc/callback${query}`), 'expired');
    }
  });

  it('by a page to return to that is none of this service', async () => {
    for (const path of [
      ...['https://attacker.example', '//attacker.example', '/\\attacker.example', '\\\\attacker.example'],
      ...['/\t/attacker.example', '/a\nb', 'javascript:alert(1)', '/api/auth/oidc', '/sign-in?return=/x', ''],
      ...[`/${'a'.repeat(600)}`, '/ü'],
    ]) {
      const { reply } = await oidc.signIn(newcomer(), { returnTo: path });
      assert.equal(locationOf(reply), '/', path);
    }
  });

  it('by many sign-ins that are begun: a browser remembers five', async () => {
    const browser = oidc.browser();
    const begun: string[] = [];
    for (let index = 0; index < 12; index += 1) begun.push(await browser.begin());
    assert.equal(browser.cookies.size, 5);
    const reply = await browser.open(await oidc.provider.visit(begun.at(-1) ?? '', newcomer()));
    assert.equal(locationOf(reply), '/');
  });

  it('two tabs at once: both finish, and the second is the session', async () => {
    const browser = oidc.browser();
    const [ada, bea] = [newcomer(), newcomer()];
    const one = await oidc.provider.visit(await browser.begin('/keys'), ada);
    const other = await oidc.provider.visit(await browser.begin('/activity'), bea);
    assert.equal(locationOf(await browser.open(other)), '/activity');
    assert.equal(locationOf(await browser.open(one)), '/keys');
    assert.equal((await browser.account())?.user.email, ada.email);
  });

  it('an account that is deleted at the issuer signs in no more, and no other has it', async () => {
    const account = newcomer();
    await oidc.signIn(account);
    const browser = oidc.browser();
    const answered = await oidc.provider.visit(await browser.begin(), account);
    oidc.provider.forget(account);
    await assertFailed(browser, await browser.open(answered), 'invalid_answer');
    const successor = await oidc.signIn(newcomer({ email: account.email }));
    await assertFailed(successor.browser, successor.reply, 'account_linked');
  });

  it('nobody learns the code, the state or the token from the log', async () => {
    const browser = oidc.browser();
    const answered = await oidc.provider.visit(await browser.begin(), newcomer({ email_verified: false }));
    await assertFailed(browser, await browser.open(answered), 'email_not_verified');
    const text = JSON.stringify(oidc.api.logLines);
    for (const name of ['code', 'state'])
      assert.ok(!text.includes(answered.searchParams.get(name) ?? '-'), name);
    const line = oidc.api.logLines.findLast(({ event }) => event === 'auth.sign_in_failed');
    assert.deepEqual([line?.['operation'], line?.['reason']], ['oidc', 'email_not_verified']);
  });
});

describe('an issuer that cannot be trusted', () => {
  interface Stand extends AsyncDisposable {
    readonly api: TestApi;
    readonly lying: LyingIssuer;
  }
  const stand = duringTests<Stand>(async () => {
    const stack = new AsyncDisposableStack();
    const lying = stack.use(await startLyingIssuer('gatehouse'));
    const api = stack.use(await startTestApi({ publicUrl: PUBLIC_URL, oidc: oidcSettings(lying.issuer) }));
    return { api, lying, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  });

  /** A sign-in to which the token endpoint answers with what is made of the nonce. */
  async function answeredWith(
    make: (nonce: string, lying: LyingIssuer) => Promise<string> | string,
    browser = new Browser(stand.api),
  ): Promise<{ browser: Browser; reply: RawReply }> {
    const asked = new URL(await browser.begin()).searchParams;
    stand.lying.answerToken(await make(asked.get('nonce') ?? '', stand.lying));
    const query = new URLSearchParams({
      code: 'c',
      state: asked.get('state') ?? '',
      iss: stand.lying.issuer,
    });
    return { browser, reply: await browser.open(`/api/auth/oidc/callback?${query}`) };
  }
  const person = (nonce: string) => ({
    sub: randomUUID(),
    email: `${randomUUID()}@example.com`,
    email_verified: true,
    nonce,
  });

  it('is trusted while it answers as it should; the verifier that it gets fits the challenge', async () => {
    const browser = new Browser(stand.api);
    const asked = new URL(await browser.begin()).searchParams;
    stand.lying.answerToken(await stand.lying.sign(person(asked.get('nonce') ?? '')));
    const query = new URLSearchParams({
      code: 'c',
      state: asked.get('state') ?? '',
      iss: stand.lying.issuer,
    });
    assert.equal(locationOf(await browser.open(`/api/auth/oidc/callback?${query}`)), '/');
    const given = Object.fromEntries(stand.lying.asked);
    const challenge = createHash('sha256')
      .update(given['code_verifier'] ?? '')
      .digest('base64url');
    assert.equal(challenge, asked.get('code_challenge'));
    assert.deepEqual([given['code'], given['redirect_uri']], ['c', OIDC_CALLBACK]);
  });

  it('signs in once by a token, although the issuer takes its code again', async () => {
    const browser = new Browser(stand.api);
    const asked = new URL(await browser.begin()).searchParams;
    const kept = new Map(browser.cookies);
    stand.lying.answerToken(await stand.lying.sign(person(asked.get('nonce') ?? '')));
    const query = new URLSearchParams({
      code: 'c',
      state: asked.get('state') ?? '',
      iss: stand.lying.issuer,
    });
    assert.equal(locationOf(await browser.open(`/api/auth/oidc/callback?${query}`)), '/');
    const copy = new Browser(stand.api);
    for (const [name, value] of kept) copy.cookies.set(name, value);
    await assertFailed(copy, await copy.open(`/api/auth/oidc/callback?${query}`), 'invalid_answer');
  });

  const otherKey = newSigningKey();
  const lies: readonly [
    title: string,
    make: (nonce: string, lying: LyingIssuer) => Promise<string> | string,
  ][] = [
    ['another nonce', (_, lying) => lying.sign(person('another'))],
    ['no nonce', (nonce, lying) => lying.sign({ ...person(nonce), nonce: undefined })],
    ['another audience', (nonce, lying) => lying.sign({ ...person(nonce), aud: 'another' })],
    [
      'a second audience without an authorised party',
      (nonce, lying) => lying.sign({ ...person(nonce), aud: ['gatehouse', 'b'] }),
    ],
    ['another issuer', (nonce, lying) => lying.sign({ ...person(nonce), iss: 'https://attacker.example' })],
    ['no subject', (nonce, lying) => lying.sign({ ...person(nonce), sub: undefined })],
    ['a subject that is too long', (nonce, lying) => lying.sign({ ...person(nonce), sub: 'x'.repeat(256) })],
    ['a subject with U+0000', (nonce, lying) => lying.sign({ ...person(nonce), sub: 'a\0b' })],
    ['a signature of another key', (nonce, lying) => lying.sign(person(nonce), { key: otherKey })],
    ['an unknown key', (nonce, lying) => lying.sign(person(nonce), { key: otherKey, header: { kid: 'x' } })],
    [
      'a key of its own in the header',
      (nonce, lying) => lying.sign(person(nonce), { header: { jwk: { kty: 'RSA' } } }),
    ],
    ['no signature', (nonce, lying) => unsigned({ iss: lying.issuer, aud: 'gatehouse', ...person(nonce) })],
    ['a time that is over', (nonce, lying) => lying.sign({ ...person(nonce), exp: secondsFromNow(-3_600) })],
    [
      'a time that is to come',
      (nonce, lying) => lying.sign({ ...person(nonce), nbf: secondsFromNow(3_600) }),
    ],
    ['no token at all', () => ''],
    ['no token, but text', () => 'a.b'],
  ];
  for (const [title, make] of lies) {
    it(`303 with invalid_answer for a token with ${title}`, async () => {
      const { browser, reply } = await answeredWith(make);
      await assertFailed(browser, reply, 'invalid_answer');
    });
  }

  for (const [title, claims] of [
    ['a text', { email_verified: 'true' }],
    ['1', { email_verified: 1 }],
    ['missing', { email_verified: undefined }],
    ['no, although the domain is proven', { email_verified: false, xms_edov: true }],
    ['an address that is no text', { email: ['a@example.com'] }],
  ] as const) {
    it(`303 with email_not_verified where that is ${title}`, async () => {
      const sub = randomUUID();
      stand.lying.answers.set('/userinfo', { sub });
      const { browser, reply } = await answeredWith((nonce, lying) =>
        lying.sign({ ...person(nonce), sub, ...claims }),
      );
      await assertFailed(browser, reply, 'email_not_verified');
    });
  }

  it('takes the word of Entra ID for an address of a domain that its owner has proven', async () => {
    const { browser } = await answeredWith((nonce, lying) =>
      lying.sign({ ...person(nonce), email_verified: undefined, xms_edov: true }),
    );
    assert.notEqual(await browser.account(), undefined);
  });

  it('303 with invalid_answer where the user info is of another subject', async () => {
    stand.lying.answers.set('/userinfo', { sub: 'someone', email: 'a@example.com', email_verified: true });
    const { browser, reply } = await answeredWith((nonce, lying) =>
      lying.sign({ ...person(nonce), email: undefined, email_verified: undefined }),
    );
    await assertFailed(browser, reply, 'invalid_answer');
  });

  it('303 with cancelled or issuer_error where it reports an error, in its own words nowhere', async () => {
    for (const [error, code] of [
      ['access_denied', 'cancelled'],
      ['server_error', 'issuer_error'],
      ['<script>', 'issuer_error'],
    ] as const) {
      const browser = new Browser(stand.api);
      const state = new URL(await browser.begin()).searchParams.get('state') ?? '';
      const query = new URLSearchParams({ error, error_description: '<b>', state, iss: stand.lying.issuer });
      const reply = await browser.open(`/api/auth/oidc/callback?${query}`);
      await assertFailed(browser, reply, code);
      assert.ok(!reply.text.includes('<'));
    }
  });

  const failing: readonly [title: string, code: string, answer: Answering][] = [
    [
      'refuses the client',
      'issuer_error',
      (_, to) => void to.writeHead(401, JSON_TYPE).end('{"error":"invalid_client"}'),
    ],
    [
      'refuses the code',
      'invalid_answer',
      (_, to) => void to.writeHead(400, JSON_TYPE).end('{"error":"invalid_grant"}'),
    ],
    ['answers 500', 'issuer_unavailable', (_, to) => void to.writeHead(500).end('oops')],
    ['answers nothing', 'issuer_unavailable', (request) => void request.socket.destroy()],
    [
      'sends the request elsewhere',
      'issuer_unavailable',
      (_, to) => void to.writeHead(307, { location: '/token2' }).end(),
    ],
    ['answers without an end', 'issuer_unavailable', (_, to) => endless(to)],
  ];
  for (const [title, code, answer] of failing) {
    it(`303 with ${code} where the token endpoint ${title}`, async () => {
      const browser = new Browser(stand.api);
      const state = new URL(await browser.begin()).searchParams.get('state') ?? '';
      stand.lying.answers.set('/token', answer);
      const query = new URLSearchParams({ code: 'c', state, iss: stand.lying.issuer });
      const reply = await browser.open(`/api/auth/oidc/callback?${query}`);
      await assertFailed(browser, reply, code);
      assert.equal(stand.lying.requests.get('/token2'), undefined);
    });
  }

  it('is asked eight times at once for one network, however many answers come', async () => {
    let most = 0;
    let waiting: Parameters<Answering>[1][] = [];
    // Nothing is answered before eight wait, and then only after a moment in which a ninth could come.
    stand.lying.answers.set('/token', ((_, response) => {
      waiting.push(response);
      most = Math.max(most, waiting.length);
      if (waiting.length !== 8) return;
      setTimeout(() => {
        for (const one of waiting) one.writeHead(400, JSON_TYPE).end('{"error":"invalid_grant"}');
        waiting = [];
      }, 50);
    }) satisfies Answering);
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const browser = new Browser(stand.api);
        const state = new URL(await browser.begin()).searchParams.get('state') ?? '';
        const query = new URLSearchParams({ code: 'c', state, iss: stand.lying.issuer });
        return locationOf(await browser.open(`/api/auth/oidc/callback?${query}`));
      }),
    );
    assert.deepEqual([...new Set(outcomes)], ['/sign-in?error=invalid_answer']);
    assert.equal(most, 8);
  });
});

describe('an issuer that is down', () => {
  it('303 with issuer_unavailable at once, for all who come, with few requests; 302 when it is back', async () => {
    await using oidc = await startOidcApi();
    await oidc.provider.stop();
    const begin = async () => locationOf(await oidc.browser().open('/api/auth/oidc'));
    for (let index = 0; index < 50; index += 1)
      assert.equal(await begin(), '/sign-in?error=issuer_unavailable');
    assert.equal(oidc.api.logLines.filter(({ event }) => event === 'auth.issuer_unavailable').length, 1);
    await oidc.provider.start();
    oidc.clock.ms += 5_000;
    assert.match(await begin(), /\/auth\?/);
    // Found out within a minute, although its documents are known.
    await oidc.provider.stop();
    oidc.clock.ms += 60_000;
    assert.equal(await begin(), '/sign-in?error=issuer_unavailable');
  });

  it('303 with unavailable for what fails within the service', async () => {
    await using oidc = await startOidcApi();
    const browser = oidc.browser();
    const answered = await oidc.provider.visit(await browser.begin(), newcomer());
    await runSql(oidc.api.owner)`ALTER TABLE user_identities RENAME TO gone`;
    assert.equal(locationOf(await browser.open(answered)), '/sign-in?error=unavailable');
  });
});

const secondsFromNow = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const JSON_TYPE = { 'content-type': 'application/json' };

function unsigned(claims: Record<string, unknown>): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  return `${part({ alg: 'none' })}.${part({ ...claims, iat: now, exp: now + 60 })}.`;
}

/** Writes until the reader leaves, at most 64 MiB. */
function endless(response: Parameters<Answering>[1]): void {
  response.writeHead(200, JSON_TYPE);
  const chunk = ' '.repeat(1_048_576);
  let left = 64;
  const write = () => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(chunk)) return void response.once('drain', write);
    }
    response.end();
  };
  write();
}
