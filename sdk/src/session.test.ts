import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { Session } from './session.ts';

const ACCESS = 'svc_access_token=a1; Path=/; Max-Age=900; HttpOnly; Secure; SameSite=Lax';
const REFRESH = 'svc_refresh_token=r1; Path=/api/auth; Max-Age=604800; HttpOnly; Secure; SameSite=Lax';
const api = (path: string, origin = 'https://gatehouse.example') => new URL(`${origin}/api${path}`);

/** A signed-in session with a clock that the test moves. */
function signedIn(lines: readonly string[] = [ACCESS, REFRESH]) {
  const clock = { nowMs: 1_795_170_600_000 };
  const session = new Session(undefined, () => clock.nowMs);
  session.keep(api('/auth/login'), lines);
  return { session, clock };
}

describe('a session', () => {
  it('sends each cookie to the paths that it covers', () => {
    const { session } = signedIn();
    assert.equal(session.headerFor(api('/keys')), 'svc_access_token=a1');
    assert.equal(session.headerFor(api('/auth/refresh')), 'svc_access_token=a1; svc_refresh_token=r1');
    assert.equal(session.headerFor(api('/authentic')), 'svc_access_token=a1');
  });

  it('sends nothing to another origin', () => {
    const { session } = signedIn();
    for (const origin of [
      'https://evil.example',
      'http://gatehouse.example',
      'https://gatehouse.example:444',
    ])
      assert.equal(session.headerFor(api('/keys', origin)), undefined);
  });

  it('forgets the cookies of the origin before when another sets some', () => {
    const { session } = signedIn();
    session.keep(api('/auth/login', 'https://other.example'), ['svc_access_token=a2; Path=/']);
    assert.equal(session.headerFor(api('/keys')), undefined);
    assert.equal(session.headerFor(api('/keys', 'https://other.example')), 'svc_access_token=a2');
  });

  it('sends no cookie after its end', () => {
    const { session, clock } = signedIn();
    clock.nowMs += 900_000;
    assert.equal(session.headerFor(api('/keys')), undefined);
    assert.equal(session.headerFor(api('/auth/refresh')), 'svc_refresh_token=r1');
    clock.nowMs += 604_800_000;
    assert.ok(session.isEmpty);
    assert.equal(session.save(), undefined);
  });

  it('replaces a cookie and forgets one that is cleared', () => {
    const { session } = signedIn();
    session.keep(api('/auth/refresh'), ['svc_access_token=a2; path=/; max-age=900']);
    assert.equal(session.headerFor(api('/keys')), 'svc_access_token=a2');
    session.keep(api('/auth/logout'), [
      'svc_access_token=; Path=/; Max-Age=0',
      'svc_refresh_token=x; Path=/api/auth; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
    ]);
    assert.ok(session.isEmpty);
  });

  it('keeps the cookies of this machine over plain HTTP, and throws elsewhere', () => {
    for (const origin of [
      'http://localhost:8080',
      'http://127.0.0.1',
      'http://127.8.9.1',
      'http://[::1]:1',
      'http://a.localhost',
    ]) {
      const session = new Session();
      session.keep(api('/auth/login', origin), [ACCESS]);
      assert.equal(session.headerFor(api('/keys', origin)), 'svc_access_token=a1');
    }
    for (const origin of [
      'http://gatehouse.example',
      'http://10.0.0.1',
      'http://127.0.0.1.evil.example',
      'http://notlocalhost',
    ])
      assert.throws(() => new Session().keep(api('/auth/login', origin), [ACCESS]), /need https/);
  });

  it('ignores lines that are no cookies, long ones, and more than 16', () => {
    const { session } = signedIn(['', '=x', 'no pair', ';a=b', `long=${'x'.repeat(5000)}`]);
    assert.ok(session.isEmpty);
    session.keep(
      api('/auth/login'),
      Array.from({ length: 40 }, (_, n) => `c${n}=${n}; Path=relative`),
    );
    assert.equal(session.headerFor(api('/keys'))?.split('; ').length, 16);
  });

  it('is stored and read again, and shows nothing in a log', () => {
    const { session, clock } = signedIn();
    const stored = JSON.parse(JSON.stringify(session.save()));
    const copy = new Session(stored, () => clock.nowMs);
    assert.equal(copy.headerFor(api('/auth/refresh')), session.headerFor(api('/auth/refresh')));
    for (const shown of [JSON.stringify({ session }), inspect(session, { depth: 9 }), String(session)])
      assert.doesNotMatch(shown, /a1|r1/);
  });
});
