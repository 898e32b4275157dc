import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { type ClientOptions, createClient } from './client.ts';
import { GatehouseError } from './errors.ts';
import { answerJson, startScriptedServer } from './testing/scripted-server.ts';

const ACCOUNT = {
  user: { user_id: 'u', email: 'ada@example.com', role: 'owner', joined_at: '2026-11-20T10:15:30+00:00' },
  organization: { id: 'o', name: 'Acme' },
};
const UNAUTHORIZED = { detail: 'Unauthorized' };

/** A service whose session is renewed by `refresh`, which waits until the test lets it answer. */
async function startService(answerRefresh: (response: ServerResponse) => void) {
  const stack = new AsyncDisposableStack();
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let isRenewed = false;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/api/auth/login') return answerJson(response, 200, ACCOUNT);
    if (request.url !== '/api/auth/refresh')
      return isRenewed
        ? answerJson(response, 200, { projects: [] })
        : answerJson(response, 401, UNAUTHORIZED);
    asked.resolve();
    await released.promise;
    isRenewed = true;
    answerRefresh(response);
  };
  const server = stack.use(
    await startScriptedServer((request, response) => {
      answer(request, response).catch(assert.fail);
    }),
  );
  const ended: number[] = [];
  return {
    server,
    ended,
    refreshAsked: asked.promise,
    release: released.resolve,
    count: (line: string) => server.requests.filter((one) => one === line).length,
    client: (options: Partial<ClientOptions> = {}) =>
      createClient({
        baseUrl: server.baseUrl,
        onUnauthorized: ({ status }) => ended.push(status),
        ...options,
      }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const REFRESH = 'POST /api/auth/refresh';
const PROJECTS = 'GET /api/projects';

describe('the renewal of a session', () => {
  it('is one for all calls that wait, and goes on when one of them is aborted', async () => {
    await using service = await startService((response) => answerJson(response, 200, ACCOUNT));
    const client = service.client();
    const controller = new AbortController();
    const aborted = client.organization.listProjects({}, { signal: controller.signal });
    const others = Array.from({ length: 9 }, () => client.organization.listProjects());
    await service.refreshAsked;
    controller.abort(new Error('left'));
    await assert.rejects(aborted, /left/);
    service.release();
    assert.equal((await Promise.all(others)).length, 9);
    assert.equal(service.count(REFRESH), 1);
    // The aborted call may have been sent, and is not repeated.
    assert.ok(service.count(PROJECTS) <= 19);
  });

  it('is not repeated for a 401 that arrives after it', async () => {
    await using service = await startService((response) => answerJson(response, 200, ACCOUNT));
    service.release();
    const held = Promise.withResolvers<void>();
    let isFirst = true;
    const client = service.client({
      fetch: async (target, init) => {
        const isHeld = isFirst;
        isFirst = false;
        const response = await fetch(target, init);
        if (isHeld) await held.promise;
        return response;
      },
    });
    const late = client.organization.listProjects();
    await client.organization.listProjects();
    held.resolve();
    await late;
    assert.equal(service.count(REFRESH), 1);
  });

  it('has the session end where it is refused', async () => {
    await using service = await startService((response) => answerJson(response, 401, UNAUTHORIZED));
    service.release();
    await assert.rejects(service.client().organization.listProjects(), { call: 'listProjects', status: 401 });
    assert.deepEqual(service.ended, [401]);
    assert.equal(service.count(PROJECTS), 1);
  });

  it('leaves the session where it gets no answer, and the calls say why', async () => {
    await using service = await startService((response) => response.destroy());
    service.release();
    await assert.rejects(service.client().organization.listProjects(), {
      name: 'GatehouseConnectionError',
      call: 'refresh',
    });
    assert.deepEqual(service.ended, []);
    await using down = await startService((response) => answerJson(response, 503, { error: 'Away.' }));
    down.release();
    await assert.rejects(down.client().organization.listProjects(), { call: 'refresh', status: 503 });
    assert.deepEqual(down.ended, []);
  });

  it('is tried again by the next call after it failed', async () => {
    let isDown = true;
    await using service = await startService((response) =>
      isDown ? answerJson(response, 503, { error: 'Away.' }) : answerJson(response, 200, ACCOUNT),
    );
    service.release();
    const refresh = (send: () => Promise<void>) => send();
    const client = service.client({ refresh });
    await assert.rejects(client.refreshSession(), { status: 503 });
    isDown = false;
    await client.refreshSession();
    assert.equal(service.count(REFRESH), 2);
  });

  it('by the page needs no request where another tab was first', async () => {
    await using service = await startService((response) => answerJson(response, 200, ACCOUNT));
    const ended: GatehouseError[] = [];
    const client = service.client({
      refresh: async () => undefined,
      onUnauthorized: (error) => ended.push(error),
    });
    // The page was wrong here: the second 401 is final.
    await assert.rejects(client.organization.listProjects(), { status: 401 });
    assert.equal(service.count(REFRESH), 0);
    assert.equal(service.count(PROJECTS), 2);
    assert.equal(ended.length, 1);
    assert.ok(ended[0] instanceof GatehouseError);
  });

  it('never repeats a call of one account as another', async () => {
    await using service = await startService((response) => answerJson(response, 200, ACCOUNT));
    const client = service.client();
    const call = client.organization.listProjects();
    await service.refreshAsked;
    await client.auth.login({ email: 'eve@example.com', password: 'x' });
    service.release();
    await assert.rejects(call, { call: 'listProjects', status: 401 });
    assert.equal(service.count(PROJECTS), 1);
    assert.deepEqual(service.ended, []);
  });
});
