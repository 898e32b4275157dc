import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { ApiError } from '@gatehouse/contract';
import type { JWK } from 'jose';
import { pino } from 'pino';
import { newSigningKey } from '../../testing/openid-provider.ts';
import { createOpenIdIssuer } from './issuer.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

type Answer = (response: ServerResponse) => void;

const json =
  (value: unknown): Answer =>
  (response) =>
    response.end(JSON.stringify(value));

/** An issuer that answers as it is told, and what we know of it. */
async function startIssuer({ timeoutMs }: { timeoutMs?: number } = {}) {
  const asked: string[] = [];
  const answers: Record<string, Answer> = {};
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path.slice(path.lastIndexOf('/') + 1));
    (answers[path] ?? ((other) => other.writeHead(404).end()))(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const clock = { ms: 5_000 };
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => logged.push(line) });
  const known = createOpenIdIssuer({
    issuer,
    fetch,
    called: 'Google',
    log,
    monotonicMs: () => clock.ms,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  return {
    issuer,
    asked,
    logged,
    clock,
    /** Sets the issuer's discovery document. */
    says: (answer: Answer) => {
      answers['/.well-known/openid-configuration'] = answer;
    },
    /** Sets the answer at one of its other addresses. */
    saysAt: (path: string, answer: Answer) => {
      answers[path] = answer;
    },
    /** Finds the key of this name, and says whether it did. */
    finds: async (kid: string) => {
      const found = await known.findKey({ alg: 'RS256', kid });
      if (found) assert.deepEqual(found.issuers, [issuer]);
      return found !== undefined;
    },
    known,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

type Issuer = Awaited<ReturnType<typeof startIssuer>>;

function publicKey(kid: string): JWK {
  const { n, e } = newSigningKey();
  return { kty: 'RSA', n: n as string, e: e as string, kid, alg: 'RS256', use: 'sig' };
}

const keyA = publicKey('a');
const keyB = publicKey('b');

function isRight(one: Issuer, ...keys: JWK[]): void {
  one.says(json({ issuer: one.issuer, jwks_uri: `${one.issuer}/keys` }));
  one.saysAt('/keys', json({ keys }));
}

async function assertAway(one: Issuer, retryAfter: string, kid = 'a'): Promise<void> {
  await assert.rejects(
    one.finds(kid),
    (error) =>
      error instanceof ApiError && error.status === 503 && error.headers['retry-after'] === retryAfter,
  );
}

const DOCUMENT = 'openid-configuration';

describe('an OpenID issuer', () => {
  it('says where a browser signs in; asked once, and kept while it cannot be reached', async () => {
    await using one = await startIssuer();
    isRight(one, keyA);
    const address = `${one.issuer}/auth`;
    one.says(json({ issuer: one.issuer, jwks_uri: `${one.issuer}/keys`, authorization_endpoint: address }));
    assert.equal((await one.known.findDocument()).authorizationUrl, address);
    one.says((response) => response.writeHead(500).end());
    one.clock.ms += 25 * 60 * MINUTE;
    await assertAway(one, '5');
    assert.equal((await one.known.findDocument()).authorizationUrl, address);
    assert.equal(one.asked.filter((what) => what === DOCUMENT).length, 2);
  });

  it('is asked nothing before there is a token, and once for many', async () => {
    await using one = await startIssuer();
    isRight(one, keyA);
    assert.deepEqual(one.asked, []);
    const found = await Promise.all(Array.from({ length: 50 }, () => one.finds('a')));
    assert.ok(found.every(Boolean));
    assert.ok(await one.finds('a'));
    assert.deepEqual(one.asked, [DOCUMENT, 'keys']);
  });

  it('is asked no more than once again for any number of keys that it does not have', async () => {
    await using one = await startIssuer();
    isRight(one, keyA);
    await one.finds('a');
    one.clock.ms += 30 * SECOND;
    for (let round = 0; round < 10; round += 1) {
      const found = await Promise.all(Array.from({ length: 100 }, (_, n) => one.finds(`${round}-${n}`)));
      assert.ok(!found.includes(true));
    }
    assert.deepEqual(one.asked, [DOCUMENT, 'keys', 'keys']);
  });

  it('may begin to sign with another key, which counts once the cool-down is over', async () => {
    await using one = await startIssuer();
    isRight(one, keyA);
    // The first name that is not known is asked about at once, the next one only after a while.
    assert.deepEqual([await one.finds('a'), await one.finds('b')], [true, false]);
    isRight(one, keyB);
    one.clock.ms += 30 * SECOND - 1;
    assert.deepEqual([await one.finds('a'), await one.finds('b')], [true, false]);
    one.clock.ms += 1;
    assert.deepEqual([await one.finds('b'), await one.finds('a')], [true, false]);
    assert.deepEqual(one.asked, [DOCUMENT, 'keys', 'keys', 'keys']);
  });

  it('may begin to sign with another key at any time, which counts at once', async () => {
    await using one = await startIssuer();
    isRight(one, keyA);
    assert.ok(await one.finds('a'));
    isRight(one, keyB);
    assert.ok(await one.finds('b'));
    assert.deepEqual(one.asked, [DOCUMENT, 'keys', 'keys']);
  });

  it('is asked again when what it said is old: its keys after 10 minutes, where they are after a day', async () => {
    await using one = await startIssuer();
    isRight(one, keyA);
    await one.finds('a');
    one.saysAt('/keys', json({ keys: [keyB] }));
    one.clock.ms += 10 * MINUTE - 1;
    assert.ok(await one.finds('a'));
    one.clock.ms += 1;
    assert.ok(await one.finds('b'));
    assert.deepEqual(one.asked, [DOCUMENT, 'keys', 'keys']);
    one.clock.ms += 24 * 60 * MINUTE;
    assert.ok(await one.finds('b'));
    assert.deepEqual(one.asked.slice(3), [DOCUMENT, 'keys']);
  });

  it('is left alone for 5 seconds after it failed, and asked by one of many after that', async () => {
    await using one = await startIssuer();
    one.says((response) => response.writeHead(500).end());
    await Promise.all(Array.from({ length: 20 }, () => assertAway(one, '5')));
    one.clock.ms += 1_500;
    isRight(one, keyA);
    await assertAway(one, '4');
    one.clock.ms += 3_499;
    await assertAway(one, '1');
    assert.deepEqual(one.asked, [DOCUMENT]);
    one.clock.ms += 1;
    assert.ok((await Promise.all(Array.from({ length: 20 }, () => one.finds('a')))).every(Boolean));
    assert.deepEqual(one.asked, [DOCUMENT, DOCUMENT, 'keys']);
    assert.equal(one.logged.length, 1);
  });

  it('is not needed while its keys are known, save for one that is not among them', async () => {
    await using one = await startIssuer();
    isRight(one, keyA);
    await one.finds('a');
    one.saysAt('/keys', (response) => response.socket?.destroy());
    one.clock.ms += MINUTE;
    await assertAway(one, '5', 'b');
    assert.ok(await one.finds('a'));
    await assertAway(one, '5', 'c');
    one.clock.ms += 9 * MINUTE;
    await assertAway(one, '5');
    // What it failed to say may be said elsewhere by now.
    one.says(json({ issuer: one.issuer, jwks_uri: `${one.issuer}/moved` }));
    one.saysAt('/moved', json({ keys: [keyA, keyB] }));
    one.clock.ms += 5 * SECOND;
    assert.ok((await one.finds('a')) && (await one.finds('b')));
  });

  const failures: [string, (one: Issuer) => void][] = [
    [
      'another name',
      (one) => one.says(json({ issuer: 'https://a.example', jwks_uri: `${one.issuer}/keys` })),
    ],
    [
      'keys elsewhere without encryption',
      (one) => one.says(json({ issuer: one.issuer, jwks_uri: 'http://localhost:1/keys' })),
    ],
    ['a redirection', (one) => one.says((to) => to.writeHead(302, { location: '/document' }).end())],
    [
      'a redirection to its keys',
      (one) => one.saysAt('/keys', (to) => to.writeHead(307, { location: '/document' }).end()),
    ],
    ['no JSON', (one) => one.says((to) => to.end('<html>'))],
    ['nothing', (one) => one.says((to) => to.end())],
    ['204', (one) => one.says((to) => to.writeHead(204).end())],
    ['half an answer', (one) => one.says((to) => to.write('{"issuer":', () => to.destroy()))],
    [
      'more than can be meant',
      (one) => one.saysAt('/keys', json({ keys: [keyA], more: 'x'.repeat(600_000) })),
    ],
    ['keys that are none', (one) => one.saysAt('/keys', json({ keys: 'a' }))],
    ['keys that are no objects', (one) => one.saysAt('/keys', json({ keys: ['a'] }))],
    ['null for keys', (one) => one.saysAt('/keys', json(null))],
  ];
  for (const [title, spoil] of failures) {
    it(`is no issuer with ${title}`, async () => {
      await using one = await startIssuer();
      isRight(one, keyA);
      one.saysAt('/document', json({ issuer: one.issuer, jwks_uri: `${one.issuer}/keys`, keys: [keyA] }));
      spoil(one);
      await assertAway(one, '5');
      assert.ok(!one.asked.includes('document'));
      assert.equal(one.logged.length, 1);
      isRight(one, keyA);
      one.clock.ms += 5 * SECOND;
      assert.ok(await one.finds('a'));
    });
  }

  it('is not waited for without a bound', async () => {
    await using one = await startIssuer({ timeoutMs: 50 });
    one.says(() => undefined);
    await assertAway(one, '5');
    isRight(one, keyA);
    one.saysAt('/keys', (response) => response.write('{'));
    one.clock.ms += 5 * SECOND;
    await assertAway(one, '5');
  });

  it('has no key where the key is none to check a signature with', async () => {
    await using one = await startIssuer();
    const { d } = newSigningKey();
    isRight(
      one,
      keyB,
      { ...keyA, kid: 'twice' },
      { ...keyB, kid: 'twice' },
      { ...keyA, kid: 'encrypts', use: 'enc' },
      { ...keyA, kid: 'other algorithm', alg: 'RS512' },
      { ...keyA, kid: 'private', d: d as string },
      { kty: 'oct', k: 'c2VjcmV0', kid: 'secret' },
      { kty: 'EC', kid: 'curve' },
    );
    const names = ['twice', 'encrypts', 'other algorithm', 'private', 'secret', 'curve'];
    for (const kid of names) assert.equal(await one.finds(kid), false, kid);
    assert.ok(await one.finds('b'));
  });
});
