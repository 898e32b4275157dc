import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { duringTests, startTestApi } from '@gatehouse/control-plane/testing';
import { type ClientOptions, createClient, GatehouseError, Session } from '@gatehouse/sdk';

// The SDK against the real API: sign-in, expiry, renewal.

const PASSWORD = 'correct horse battery staple';

describe('a session of the SDK', () => {
  const api = duringTests(() => startTestApi());

  /** A client that counts the requests it sends, by path. */
  async function signedUp(options: Partial<ClientOptions> = {}) {
    const email = `${randomUUID()}@example.com`;
    const session = new Session();
    const sent: string[] = [];
    const client = createClient({
      baseUrl: `http://127.0.0.1:${api.port}/api`,
      session,
      fetch: (target, init) => {
        sent.push(new URL(String(target)).pathname);
        return fetch(target, init);
      },
      ...options,
    });
    await client.auth.register({ email, password: PASSWORD, organization_name: `Org ${randomUUID()}` });
    await client.auth.login({ email, password: PASSWORD });
    sent.length = 0;
    const count = (path: string) => sent.filter((one) => one === path).length;
    return { client, session, email, sent, count };
  }

  /** The session as it is fifteen minutes later: its access cookie has gone. */
  function withoutAccess(session: Session): Session {
    const saved = session.save();
    assert.ok(saved);
    return new Session({
      ...saved,
      cookies: saved.cookies.filter(({ name }) => name !== 'svc_access_token'),
    });
  }

  /** A client of the same account whose access cookie is wrong, as after its end. */
  function expired(session: Session, options: Partial<ClientOptions> = {}) {
    const sent: string[] = [];
    const client = createClient({
      baseUrl: `http://127.0.0.1:${api.port}/api`,
      session: withoutAccess(session),
      fetch: (target, init) => {
        sent.push(new URL(String(target)).pathname);
        return fetch(target, init);
      },
      ...options,
    });
    return { client, count: (path: string) => sent.filter((one) => one === path).length };
  }

  it('200 after a sign-in, and 401 after a sign-out', async () => {
    const ended: number[] = [];
    const { client, email, session } = await signedUp({ onUnauthorized: ({ status }) => ended.push(status) });
    assert.equal((await client.auth.me()).user.email, email);
    assert.equal(session.isEmpty, false);
    await client.auth.logout();
    assert.equal(session.isEmpty, true);
    await assert.rejects(client.auth.me(), (error) => {
      assert.ok(error instanceof GatehouseError);
      assert.deepEqual([error.status, error.message, error.call], [401, 'Unauthorized', 'me']);
      assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/);
      return true;
    });
    assert.deepEqual(ended, [401]);
  });

  it('200 for ten calls at once with an expired session, after one refresh', async () => {
    const { session } = await signedUp();
    const { client, count } = expired(session);
    const replies = await Promise.all(Array.from({ length: 10 }, () => client.organization.listProjects()));
    assert.ok(replies.every(({ projects }) => projects.length === 1));
    assert.equal(count('/api/auth/refresh'), 1);
    assert.equal(count('/api/projects'), 20);
    await client.organization.listProjects();
    assert.equal(count('/api/projects'), 21);
  });

  it('401 once for all that wait where the refresh is refused', async () => {
    const { session, client: other } = await signedUp();
    const copy = new Session(session.save());
    await other.auth.logout();
    const ended: number[] = [];
    const { client, count } = expired(copy, { onUnauthorized: ({ status }) => ended.push(status) });
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => client.auth.me()));
    assert.ok(results.every((result) => result.status === 'rejected' && result.reason.call === 'me'));
    assert.deepEqual(ended, [401]);
    assert.equal(count('/api/auth/refresh'), 1);
  });

  it('401 of a sign-in is not followed by a refresh', async () => {
    const { client, email, count } = await signedUp();
    await assert.rejects(client.auth.login({ email, password: 'wrong password' }), { status: 401 });
    assert.equal(count('/api/auth/refresh'), 0);
  });

  it('200 by a refresh of the page: its lock is held around the one that is sent', async () => {
    const { session } = await signedUp();
    const steps: string[] = [];
    const { client, count } = expired(session, {
      refresh: async (send) => {
        steps.push('lock');
        await send();
        steps.push('unlock');
      },
    });
    await client.refreshSession();
    await client.auth.me();
    assert.deepEqual(steps, ['lock', 'unlock']);
    assert.equal(count('/api/auth/refresh'), 1);
  });

  it('200 with a stored session in another process, and nothing of it in a log', async () => {
    const { session, email } = await signedUp();
    const text = JSON.stringify(session.save());
    const client = createClient({
      baseUrl: `http://127.0.0.1:${api.port}/api`,
      session: new Session(JSON.parse(text)),
    });
    assert.equal((await client.auth.me()).user.email, email);
    assert.equal(JSON.stringify({ session }), '{"session":"[session]"}');
  });

  it('400 lists every issue, and the message says them', async () => {
    const { client } = await signedUp();
    await assert.rejects(
      client.keys.createKey({ project_id: 'a', name: ' ', credit_limit_cents: 0.5 }),
      (error) => {
        assert.ok(error instanceof GatehouseError);
        assert.equal(error.status, 400);
        assert.deepEqual(
          error.issues.map(({ loc }) => loc.join('.')),
          ['body.name', 'body.credit_limit_cents'],
        );
        assert.match(error.message, /^name: Must not be blank\. credit_limit_cents: /);
        return true;
      },
    );
  });

  it('503 while the telemetry store is unavailable, and the rest goes on', async () => {
    const { client } = await signedUp();
    await assert.rejects(client.analytics.getSummary(), {
      name: 'GatehouseError',
      status: 503,
      message: 'analytics backend unavailable',
    });
    assert.equal((await client.keys.listKeys()).keys.length, 0);
  });

  it('403 for a change that a page of another origin asks for, with the sentence of the API', async () => {
    const { session } = await signedUp();
    const client = createClient({
      baseUrl: `http://127.0.0.1:${api.port}/api`,
      session,
      fetch: (target, init) => {
        const headers = new Headers(init?.headers);
        headers.set('origin', 'https://elsewhere.example');
        return fetch(target, { ...init, headers });
      },
    });
    await assert.rejects(client.organization.renameOrganization({ name: 'Taken over' }), (error) => {
      assert.ok(error instanceof GatehouseError);
      assert.deepEqual([error.name, error.status], ['GatehouseError', 403]);
      return true;
    });
    assert.notEqual((await client.auth.me()).organization.name, 'Taken over');
  });
});
