import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Span, SpanAttributes, Tracing } from '@gatehouse/observability';
import { keyOf, useRouting } from '../routing/routing.fixture.ts';
import { json } from '../testing/mock-provider.ts';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts';

const CALLERS = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const PROMPT = 'words that nobody else may read';

interface Recorded {
  name: string;
  readonly given: string | undefined;
  readonly attributes: Record<string, unknown>;
  error: string | undefined;
  ends: number;
  readonly calls: Recorded[];
}

/** Keeps the spans of requests, each with those of its calls. */
function recordTracing() {
  const requests: Recorded[] = [];
  const open = (name: string, given: string | undefined, into: Recorded[]): Span => {
    const recorded: Recorded = { name, given, attributes: {}, error: undefined, ends: 0, calls: [] };
    into.push(recorded);
    const say = (attributes: SpanAttributes) => {
      for (const [key, value] of Object.entries(attributes))
        if (value !== undefined) recorded.attributes[key] = value;
    };
    return {
      isSampled: true,
      traceparent: `traceparent of ${name}`,
      begin(called, attributes) {
        const span = open(called, undefined, recorded.calls);
        Object.assign(recorded.calls.at(-1)?.attributes ?? {}, attributes);
        return span;
      },
      end(attributes, error, renamed) {
        say(attributes);
        recorded.error = error;
        recorded.ends += 1;
        if (renamed !== undefined) recorded.name = renamed;
      },
    };
  };
  const tracing: Tracing = { begin: (name, traceparent) => open(name, traceparent, requests) };
  return { requests, tracing };
}

const routing = await useRouting();
const { requests, tracing } = recordTracing();
const told = new Set<string>();
let gateway: TestGateway;

const ask = async (model: string, headers: Record<string, string> = {}) => {
  const before = requests.length;
  const answer = await gateway.chat(
    routing.key.secret,
    { model, messages: [{ role: 'user', content: PROMPT }] },
    { headers },
  );
  await answer.text();
  await gateway.gateway.flush();
  const [request] = requests.slice(before);
  assert.ok(request);
  return { request, id: answer.headers.get('x-request-id') };
};

describe('traces of the gateway', () => {
  before(async () => {
    gateway = await startTestGateway(routing.database, {
      platformKey: keyOf,
      random: () => 0.5,
      tracing,
      settings: { bodyLimitBytes: 1024 * 1024, allowedHosts: '*', traceContextTo: told },
    });
  });
  after(() => gateway[Symbol.asyncDispose]());

  it('200 has no span for a health check, which comes every few seconds', async () => {
    const before = requests.length;
    for (const path of ['/healthz', '/readyz', '/readyz?verbose']) {
      const answer = await gateway.fetch(path, { headers: { traceparent: CALLERS } });
      assert.equal(answer.status, 200);
      await answer.text();
    }
    assert.equal(requests.length, before);
  });

  it('200 has a span for the request and one for each attempt, without the prompt or a secret', async () => {
    const model = await routing.addTwo();
    routing.first.script = json({ error: { message: 'overloaded' } }, 503);
    const { request, id } = await ask(model, { traceparent: CALLERS });
    assert.deepEqual(
      [request.name, request.given, request.error, request.ends],
      ['POST /v1/chat/completions', CALLERS, undefined, 1],
    );
    const { 'gatehouse.cost_pkr': cost, ...about } = request.attributes;
    assert.match(String(cost), /^[\d.]+$/);
    assert.deepEqual(about, {
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'gatehouse.request_id': id,
      'gatehouse.operation': 'createChatCompletion',
      'gatehouse.organization_id': routing.key.organizationId,
      'gatehouse.key_prefix': routing.key.prefix,
      'gatehouse.route': model,
      'gatehouse.attempts': 2,
    });
    const [failed, served] = request.calls;
    assert.deepEqual(
      [failed, served].map((call) => [
        call?.name,
        call?.error,
        call?.ends,
        call?.attributes['gatehouse.ending'],
      ]),
      [
        ['chat upstream-model', '503', 1, 'error_status'],
        ['chat upstream-model', undefined, 1, 'served'],
      ],
    );
    const { attributes } = served as Recorded;
    assert.equal(attributes['gen_ai.operation.name'], 'chat');
    assert.equal(attributes['gen_ai.provider.name'], `${model} second`);
    assert.equal(attributes['gen_ai.request.model'], 'upstream-model');
    assert.equal(attributes['gen_ai.usage.input_tokens'], 11);
    assert.equal(attributes['gen_ai.usage.output_tokens'], 5);
    assert.equal(attributes['server.address'], '127.0.0.1');
    assert.equal(attributes['http.response.status_code'], 200);
    const all = JSON.stringify(requests);
    for (const secret of [PROMPT, routing.key.secret, keyOf('FIRST'), keyOf('SECOND'), 'Hello there']) {
      assert.ok(!all.includes(secret), secret);
    }
  });

  it('200 tells only the named providers of the trace', async () => {
    const model = await routing.addTwo();
    await ask(model, { traceparent: CALLERS, tracestate: 'a=b' });
    const { headers: untold = {} } = routing.first.asked.at(-1) ?? {};
    assert.deepEqual([untold['traceparent'], untold['tracestate']], [undefined, undefined]);
    told.add(`${model} first`);
    await ask(model, { traceparent: CALLERS, tracestate: 'a=b' });
    const { headers = {} } = routing.first.asked.at(-1) ?? {};
    assert.deepEqual(
      [headers['traceparent'], headers['tracestate']],
      ['traceparent of chat upstream-model', undefined],
    );
  });

  it('401 and 404 have a span that did not fail, and 502 one that did', async () => {
    const { length } = requests;
    await (await gateway.fetch('/v1/models', { headers: { authorization: 'Bearer sk_svc_none' } })).text();
    await (await gateway.fetch('/v1/nothing')).text();
    const model = await routing.addTwo();
    routing.first.script = (response) => void response.destroy();
    routing.second.script = (response) => void response.destroy();
    await ask(model);
    assert.deepEqual(
      requests
        .slice(length)
        .map(({ name, error, attributes }) => [name, error, attributes['http.response.status_code']]),
      [
        ['GET /v1/models', undefined, 401],
        ['GET', undefined, 404],
        ['POST /v1/chat/completions', 'upstream_error', 502],
      ],
    );
    assert.deepEqual(
      requests.at(-1)?.calls.map(({ error }) => error),
      ['unreachable', 'unreachable'],
    );
  });
});
