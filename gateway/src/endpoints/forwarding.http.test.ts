import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { runSql } from '@gatehouse/store/testing';
import { assertError, useBench } from '../testing/bench.ts';
import { completion, json } from '../testing/mock-provider.ts';
import { addRoute, issueKey, PLATFORM_KEY } from '../testing/test-gateway.ts';

const bench = await useBench();

const DEBUG = 20;

describe('what reaches the provider', () => {
  before(async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
  });

  it('is a fixed set of headers and nothing of the caller', async () => {
    const response = await bench.gateway.chat(
      bench.key.secret,
      {},
      {
        headers: {
          'x-api-key': bench.key.secret,
          cookie: 'svc_access_token=abc',
          'x-forwarded-for': '10.0.0.1',
          forwarded: 'for=10.0.0.1',
          'accept-encoding': 'gzip, br',
          'x-svc-meta-team': 'search',
          'openai-organization': 'org-1',
          'user-agent': 'caller/1',
          accept: 'text/plain',
          'x-anything': 'else',
        },
      },
    );
    assert.equal(response.status, 200);
    const asked = bench.provider.asked.at(-1);
    const { host, 'content-length': length, ...headers } = asked?.headers ?? {};
    assert.equal(`http://${host}/v1`, bench.provider.baseUrl);
    assert.equal(Number(length) > 0, true);
    assert.deepEqual(headers, {
      connection: 'keep-alive',
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'gatehouse',
      authorization: `Bearer ${PLATFORM_KEY}`,
    });
    assert.equal(asked?.path, '/v1/chat/completions');
    assert.doesNotMatch(JSON.stringify(asked), /sk_svc_/);
  });

  it('has the headers of the protocol, and one answer to an idempotency key for each organisation', async () => {
    await addRoute(bench.database, {
      ...{ id: 'mock/claude', protocol: 'anthropic', baseUrl: bench.provider.baseUrl },
      endpoints: ['messages'],
    });
    const body = { model: 'mock/claude', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };
    const other = await issueKey(bench.database);
    const keys: unknown[] = [];
    for (const secret of [bench.key.secret, bench.key.secret, other.secret]) {
      const response = await bench.gateway.post('/v1/messages', secret, body, {
        headers: {
          'anthropic-version': '2026-10-21',
          'anthropic-beta': 'a-2026-01-01',
          'idempotency-key': 'retry-1',
          'x-client-request-id': 'mine',
          'openai-organization': 'org-1',
          'x-claude-code-session-id': 's1',
        },
      });
      await response.text();
      const { headers } = bench.provider.asked.at(-1) ?? assert.fail();
      const { 'idempotency-key': key, host: _, 'content-length': __, ...sent } = headers;
      keys.push(key);
      assert.deepEqual(sent, {
        connection: 'keep-alive',
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'gatehouse',
        'anthropic-version': '2026-10-21',
        'anthropic-beta': 'a-2026-01-01',
        'x-client-request-id': 'mine',
        'x-api-key': PLATFORM_KEY,
      });
    }
    assert.equal(keys[0], keys[1]);
    assert.notEqual(keys[0], keys[2]);
    assert.ok(!keys.includes('retry-1'));
  });

  it('carries no authorization when the provider takes no key, and keeps the query of its address', async () => {
    const baseUrl = `${bench.provider.baseUrl}/deployments/x/?api-version=2026-01-01`;
    await addRoute(bench.database, { id: 'mock/open', baseUrl, apiKeyEnv: null });
    assert.equal((await bench.gateway.chat(bench.key.secret, { model: 'mock/open' })).status, 200);
    const asked = bench.provider.asked.at(-1);
    assert.equal(asked?.headers.authorization, undefined);
    assert.equal(asked?.path, '/v1/deployments/x/chat/completions?api-version=2026-01-01');
  });

  it('is the body byte for byte, with the model and the output cap in place of the caller’s', async () => {
    const body =
      '{ "model":"mock/model", "messages":[{"role":"user","content":"Hi"}],\n"max_tokens" : 4 ,"seed":9007199254740993,"temperature":1.0}';
    const headers = { authorization: `Bearer ${bench.key.secret}` };
    const response = await bench.gateway.fetch('/v1/chat/completions', { method: 'POST', headers, body });
    assert.equal(response.status, 200);
    assert.equal(
      bench.provider.asked.at(-1)?.text,
      body
        .replace('"mock/model"', '"upstream-model"')
        .replace('"max_tokens" : 4', '"max_completion_tokens":4'),
    );
  });

  it('400 for a member that occurs twice: the provider might go by the other one', async () => {
    const before = bench.provider.asked.length;
    for (const [member, body] of [
      ['model', '{"model":"gpt-expensive","messages":[{}],"model":"mock/model"}'],
      ['max_tokens', '{"model":"mock/model","messages":[{}],"max_tokens":100000,"max_tokens":4}'],
    ] as const) {
      const headers = { authorization: `Bearer ${bench.key.secret}` };
      const response = await bench.gateway.fetch('/v1/chat/completions', { method: 'POST', headers, body });
      const refusal = { status: 400, code: 'invalid_request', type: 'invalid_request_error', param: member };
      assert.match(await assertError(response, refusal), /twice/);
    }
    assert.equal(bench.provider.asked.length, before);
  });

  it('changes with the route from the next request', async () => {
    await addRoute(bench.database, { id: 'mock/moving', baseUrl: bench.provider.baseUrl });
    assert.equal((await bench.gateway.chat(bench.key.secret, { model: 'mock/moving' })).status, 200);
    await runSql(
      bench.owner,
    )`UPDATE route_targets SET upstream_model = 'moved' WHERE route_id = 'mock/moving'`;
    assert.equal((await bench.gateway.chat(bench.key.secret, { model: 'mock/moving' })).status, 200);
    assert.equal(bench.provider.asked.at(-1)?.body['model'], 'moved');
    await runSql(bench.database)`UPDATE routes SET is_active = false WHERE id = 'mock/moving'`;
    assert.equal((await bench.gateway.chat(bench.key.secret, { model: 'mock/moving' })).status, 404);
  });

  it('is recorded with the labels and the user agent of the caller, byte for byte', async () => {
    // Over a bare socket: no client library sends these bytes.
    const body = '{"model":"mock/model","messages":[{"role":"user","content":"Hi"}]}';
    const socket = connect(bench.gateway.port, '127.0.0.1');
    socket.write(
      [
        'POST /v1/chat/completions HTTP/1.1',
        'host: x',
        `authorization: Bearer ${bench.key.secret}`,
        'user-agent: café/1 ☕',
        'X-SVC-Meta-__proto__: polluted',
        'X-SVC-Meta-Team: é',
        'x-svc-meta-team: ops',
        `content-length: ${body.length}`,
        'connection: close',
        '',
        body,
      ].join('\r\n'),
    );
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    assert.match(answer, /^HTTP\/1\.1 200 /);
    const requestId = /x-request-id: (\S+)/.exec(answer)?.[1] ?? '';
    const { userAgent, metadata } = await bench.gateway.journal.recordOf(requestId);
    assert.equal(userAgent, 'café/1 ☕');
    assert.deepEqual(
      [...metadata],
      [
        ['__proto__', 'polluted'],
        ['team', 'é, ops'],
      ],
    );
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  it('leaves one log line for each request, without a secret or a body', async () => {
    const lines = bench.gateway.logged.length;
    await bench.gateway.chat(bench.key.secret, { messages: [{ role: 'user', content: 'my secret words' }] });
    await bench.gateway.fetch('/v1/models', { headers: { authorization: 'Bearer sk_svc_something' } });
    await bench.gateway.fetch('/v1/models?limit=1', {
      headers: { authorization: `Bearer ${bench.key.secret}` },
    });
    for (const path of ['/healthz', '/readyz', '/v1/none']) await bench.gateway.fetch(path);
    for (const method of ['POST', 'PUT']) await bench.gateway.fetch('/v1/chat/completions', { method });
    const [chat, models, ...others] = bench.gateway.logged
      .slice(lines)
      .filter(({ level }) => level !== DEBUG);
    assert.deepEqual(
      others.map(({ operation, path, status, termination }) => [operation, path, status, termination]),
      [
        ['listModels', '/v1/models', 200, undefined],
        [undefined, '/v1/none', 404, undefined],
        ['createChatCompletion', '/v1/chat/completions', 401, 'success'],
        [undefined, '/v1/chat/completions', 405, undefined],
      ],
    );
    const { request_id, time, pid, hostname, ...known } = chat ?? {};
    assert.deepEqual(known, {
      level: 30,
      msg: 'request',
      operation: 'createChatCompletion',
      path: '/v1/chat/completions',
      method: 'POST',
      organization_id: bench.key.organizationId,
      key_prefix: bench.key.prefix,
      model: 'mock/model',
      route: 'mock/model',
      status: 200,
      ms: 0,
      cost_pkr: chat?.['cost_pkr'],
      termination: 'success',
    });
    assert.match(String(chat?.['cost_pkr']), /^0\.\d{1,6}$/);
    assert.equal(models?.['status'], 401);
    const all = JSON.stringify(bench.gateway.logged);
    assert.doesNotMatch(all, /secret words|sk-platform|sk_svc_something/);
    assert.ok(!all.includes(bench.key.secret));
  });
});
