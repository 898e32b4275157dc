import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ACCESS_COOKIE, auth, type Endpoint, endpoints, REFRESH_COOKIE } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { somePath } from '../testing/paths.ts';
import { startTestApi } from '../testing/test-api.ts';
import { sweepExpired } from './sweep.ts';

describe('a session', () => {
  const api = duringTests(startTestApi);

  /** Lets time go by for the access tokens of an account. */
  const age = (userId: string, seconds: number) =>
    runSql(api.database)`
      UPDATE access_tokens SET expires_at = expires_at - make_interval(secs => ${seconds})
      WHERE session_id IN (SELECT id FROM sessions WHERE user_id = ${userId})`;

  it('200 for a quarter of an hour, and 401 from then on', async () => {
    const { client, userId } = await api.signUp();
    const [row] = await runSql<{ seconds: number }>(api.database)`
      SELECT extract(epoch FROM t.expires_at - s.created_at)::integer AS seconds
      FROM access_tokens t JOIN sessions s ON s.id = t.session_id WHERE s.user_id = ${userId}`;
    assert.equal(row?.seconds, 900);
    await age(userId, 840);
    await client.call(auth.me);
    await age(userId, 61);
    assert.deepEqual(await client.refused(auth.me, 401), { detail: 'Unauthorized' });
  });

  it('401 without a cookie, or with one that is no access token, on every endpoint', async () => {
    const { client } = await api.signUp();
    const refreshToken = client.cookies.get(REFRESH_COOKIE) ?? '';
    const accessToken = client.cookies.get(ACCESS_COOKIE) ?? '';
    for (const endpoint of (endpoints as readonly Endpoint[]).filter(({ access }) => access === 'session')) {
      for (const cookie of [
        undefined,
        '',
        `${ACCESS_COOKIE}=`,
        `${ACCESS_COOKIE}=${refreshToken}`,
        `${REFRESH_COOKIE}=${refreshToken}`,
        `${REFRESH_COOKIE}=${accessToken}`,
        `${ACCESS_COOKIE}=${accessToken.toLowerCase()}`,
        `${ACCESS_COOKIE}=${accessToken.slice(0, -1)}`,
        `${ACCESS_COOKIE}=${accessToken}x`,
        `${ACCESS_COOKIE}="${accessToken}"`,
        `${ACCESS_COOKIE}=sk_svc_${'0'.repeat(32)}`,
        `${ACCESS_COOKIE.toUpperCase()}=${accessToken}`,
        `${ACCESS_COOKIE}2=${accessToken}`,
      ]) {
        const { method } = endpoint;
        const headers = {
          ...(cookie === undefined ? {} : { cookie }),
          authorization: `Bearer ${accessToken}`,
        };
        const reply = await client.raw({ method, path: somePath(endpoint), headers });
        assert.equal(reply.status, 401, `${endpoint.name} ${cookie}`);
        assert.equal(reply.text, '{"detail":"Unauthorized"}');
        assert.equal(reply.headers['set-cookie'], undefined);
      }
    }
  });

  it('401 from the next request on when the account is deactivated or deleted', async () => {
    const deactivated = await api.signUp();
    await deactivated.client.call(auth.me);
    await runSql(api.database)`UPDATE users SET is_active = false WHERE id = ${deactivated.userId}`;
    assert.deepEqual(await deactivated.client.refused(auth.me, 401), { detail: 'Unauthorized' });
    const deleted = await api.signUp();
    await runSql(api.owner)`DELETE FROM users WHERE id = ${deleted.userId}`;
    assert.deepEqual(await deleted.client.refused(auth.me, 401), { detail: 'Unauthorized' });
  });

  it('200 with the role, the address and the organisation that the account has at that moment', async () => {
    const { client, userId, organizationId } = await api.signUp();
    const { user } = await client.call(auth.me);
    await runSql(api.database)`
      UPDATE users SET role = 'admin', email = 'moved@example.com' WHERE id = ${userId}`;
    await runSql(api.database)`
      UPDATE organizations SET name = 'Renamed', name_key = 'renamed' WHERE id = ${organizationId}`;
    const expected = {
      user: { ...user, role: 'admin', email: 'moved@example.com' },
      organization: { id: organizationId, name: 'Renamed' },
    };
    assert.deepEqual(await client.call(auth.me), expected);
    assert.deepEqual(await client.call(auth.refresh), expected);
  });

  it('keeps nothing of a token but its hash, and nothing of a password but its Argon2id', async () => {
    const { client, userId } = await api.signUp();
    const [row] = await runSql<{ access: number; refresh: number; password: string }>(api.database)`
      SELECT octet_length(t.token_hash) AS access, octet_length(s.refresh_token_hash) AS refresh, u.password_hash AS password
      FROM users u JOIN sessions s ON s.user_id = u.id JOIN access_tokens t ON t.session_id = s.id WHERE u.id = ${userId}`;
    assert.deepEqual([row?.access, row?.refresh], [32, 32]);
    assert.match(row?.password ?? '', /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await client.call(auth.me);
  });

  describe('the sweep of what has expired', () => {
    it('may run on several nodes at once', async () => {
      const { userId } = await api.signUp();
      await runSql(api.database)`
        INSERT INTO failed_sign_ins (email_hash, failed_at)
        SELECT sha256(int4send(n)), now() - interval '901 s' FROM generate_series(1, 2000) AS n`;
      await age(userId, 901);
      await runSql(api.database)`UPDATE sessions SET refresh_expires_at = now() WHERE user_id = ${userId}`;
      await Promise.all(Array.from({ length: 4 }, () => sweepExpired(api.database, 900)));
      const left = await runSql(api.database)`
        SELECT (SELECT count(*) FROM sessions WHERE user_id = ${userId}) AS sessions,
        (SELECT count(*) FROM failed_sign_ins WHERE failed_at < now() - interval '900 s') AS failures`;
      assert.deepEqual(left, [{ sessions: 0n, failures: 0n }]);
    });

    it('leaves what still opens something, and removes the rest', async () => {
      const live = await api.signUp();
      const idle = await api.signUp();
      const over = await api.signUp();
      const ending = await api.signUp();
      await age(idle.userId, 901);
      await age(over.userId, 901);
      for (const { userId } of [over, ending])
        await runSql(api.database)`UPDATE sessions SET refresh_expires_at = now() WHERE user_id = ${userId}`;
      await runSql(api.database)`
        INSERT INTO failed_sign_ins (email_hash, failed_at) VALUES ('old', now() - interval '901 s'), ('new', now() - interval '800 s')`;
      await sweepExpired(api.database, 900);

      await live.client.call(auth.me);
      await live.client.call(auth.refresh);
      await idle.client.call(auth.refresh);
      // Its week is over, its last access token is not.
      await ending.client.call(auth.me);
      await over.client.refused(auth.me, 401);
      const left = await runSql(api.database)`
        SELECT (SELECT count(*) FROM sessions WHERE user_id = ${over.userId}) AS sessions,
        (SELECT count(*) FROM access_tokens WHERE expires_at < now()) AS tokens,
        (SELECT string_agg(encode(email_hash, 'escape'), ',') FROM failed_sign_ins) AS failures`;
      assert.deepEqual(left, [{ sessions: 0n, tokens: 0n, failures: 'new' }]);

      await age(ending.userId, 901);
      await sweepExpired(api.database, 900);
      const [ended] = await runSql(api.database)`
        SELECT count(*) AS n FROM sessions WHERE user_id = ${ending.userId}`;
      assert.deepEqual(ended, { n: 0n });
    });
  });
});
