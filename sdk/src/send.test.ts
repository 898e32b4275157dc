import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { createClient } from './client.ts';
import { GatehouseConnectionError } from './errors.ts';
import { answerJson, startScriptedServer } from './testing/scripted-server.ts';

const isConnectionError = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof GatehouseConnectionError, String(error));
  assert.equal(error.call, 'listProjects');
  assert.match(error.message, message);
  return true;
};

describe('a call without an answer', () => {
  it('is a GatehouseConnectionError with the reason: nothing listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, 'close');
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}/api` });
    await assert.rejects(client.organization.listProjects(), isConnectionError(/ECONNREFUSED/));
  });

  it('is one: the connection ends within the reply', async () => {
    await using server = await startScriptedServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"projects":');
      setImmediate(() => response.destroy());
    });
    const client = createClient(server);
    await assert.rejects(client.organization.listProjects(), isConnectionError(/^listProjects: \S/));
  });

  for (const part of ['headers', 'body'] as const) {
    it(`is one: the ${part} do not come in time`, async () => {
      await using server = await startScriptedServer((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        if (part === 'body') response.write('{"projects":');
      });
      const client = createClient({ ...server, timeoutMs: 60_000 });
      await assert.rejects(
        client.organization.listProjects({}, { timeoutMs: 20 }),
        isConnectionError(/^listProjects: no answer within 20 ms\.$/),
      );
    });

    it(`rejects with the reason of its signal while the ${part} are waited for`, async () => {
      const controller = new AbortController();
      const reason = new Error('the page was left');
      await using server = await startScriptedServer((_, response) => {
        if (part === 'body') {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.write('{"projects":');
        }
        setImmediate(() => controller.abort(reason));
      });
      const client = createClient(server);
      const { signal } = controller;
      await assert.rejects(client.organization.listProjects({}, { signal }), (error) => error === reason);
    });
  }

  it('is not sent where its signal aborted before', async () => {
    await using server = await startScriptedServer((_, response) =>
      answerJson(response, 200, { projects: [] }),
    );
    const signal = AbortSignal.abort();
    await assert.rejects(createClient(server).organization.listProjects({}, { signal }), {
      name: 'AbortError',
    });
    assert.deepEqual(server.requests, []);
  });
});

describe('the address of the API', () => {
  it('may end with a slash, and may be relative without a session', async () => {
    const sent: string[] = [];
    const fetch = async (target: unknown) => {
      sent.push(String(target));
      return Response.json({ projects: [] });
    };
    for (const baseUrl of [
      '/api',
      '/api/',
      'https://gatehouse.example/api//',
      'HTTPS://Gatehouse.example/api',
    ])
      await createClient({ baseUrl, fetch }).organization.listProjects();
    assert.deepEqual(sent, [
      '/api/projects',
      '/api/projects',
      ...Array(2).fill('https://gatehouse.example/api/projects'),
    ]);
  });

  for (const baseUrl of [
    '',
    'api',
    '//evil.example/api',
    'ftp://x/api',
    'javascript:alert(1)',
    'http://a:b@x/api',
    'http://x/api?a=b',
    'http://x/api#a',
  ])
    it(`is not ${JSON.stringify(baseUrl)}`, () => {
      assert.throws(() => createClient({ baseUrl }), TypeError);
    });
});
