import assert from 'node:assert/strict';
import { once } from 'node:events';
import { before, describe, it } from 'node:test';
import { READ_ON_MS } from '../attempt/read-on.ts';
import { assertError, useBench } from '../testing/bench.ts';
import { codexBody } from '../testing/codex-body.ts';
import { flush, json, sse } from '../testing/mock-provider.ts';
import {
  completed,
  event,
  messageEvents,
  messageItem,
  response,
  textDelta,
} from '../testing/mock-responses.ts';
import { addRoute, issueKey, moneyOf, PLATFORM_KEY, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';
import { storeVaultKey } from '../testing/vault-key.ts';

const MODEL = 'mock/responses';
const PATH = '/v1/responses';
const INPUT = 70n;
const OUTPUT = 560n;

const bench = await useBench();

describe('POST /v1/responses', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    const route = { baseUrl, endpoints: ['responses'], flags: { surfaces: { responses: '/responses' } } };
    await addRoute(bench.database, { ...route, id: MODEL });
    await addRoute(bench.database, { ...route, id: 'mock/context', maxInputTokens: 50_000 });
    await addRoute(bench.database, {
      ...route,
      id: 'mock/searching',
      allow: [{ member: 'tools', values: ['web_search'] }],
      microPkrPerCall: { web_search: 2_850_000n },
    });
  });
  const ask = (body: object = {}, init: RequestInit = {}, secret = bench.key.secret) =>
    bench.gateway.post(PATH, secret, { model: MODEL, input: 'Hi', ...body }, init);

  it('200 with the answer as it came, and what it cost', async () => {
    const answer = JSON.stringify(
      response([messageItem('Hé☕')], { input: 9, output: 4, reasoning: 2 }),
      null,
      1,
    );
    bench.provider.script = json(answer);
    const got = await ask({ max_output_tokens: 50 });
    assert.equal(got.status, 200);
    assert.equal(await got.text(), answer);
    const asked = bench.provider.asked.at(-1);
    assert.equal(asked?.path, '/v1/responses');
    assert.equal(asked?.text, '{"model":"upstream-model","input":"Hi","max_output_tokens":50}');
    assert.equal(asked?.headers.authorization, `Bearer ${PLATFORM_KEY}`);
    await bench.assertRecord(got, {
      status: 200,
      isStream: false,
      model: MODEL,
      promptTokens: 9,
      tokensGenerated: 4,
      tokensEstimated: false,
      costMicroPkr: 9n * INPUT + 4n * OUTPUT,
      terminationReason: 'success',
      upstreamError: null,
    });
  });

  it('200 for a stream, event by event, its end only when it is on record', async () => {
    const events = messageEvents('Hé', '☕');
    const end = completed([messageItem('Hé☕')], { input: 9, output: 4 });
    bench.provider.script = sse(...events, end);
    const got = await ask({ stream: true });
    assert.equal(got.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(await got.text(), [...events, end].join(''));
    assert.equal(bench.provider.asked.at(-1)?.body['stream_options'], undefined);
    await bench.assertRecord(got, {
      isStream: true,
      promptTokens: 9,
      tokensGenerated: 4,
      tokensEstimated: false,
    });
  });

  it('200 for a turn of Codex: only the model, the cap and the search that it declares are not its own bytes', async () => {
    bench.provider.script = sse(...messageEvents('Done.'), completed([], { input: 900, output: 4 }));
    const body = codexBody(MODEL);
    const headers = { 'session-id': '0199-a1', originator: 'codex_exec', accept: 'text/event-stream' };
    const got = await bench.gateway.post(PATH, bench.key.secret, body, { headers });
    assert.equal(got.status, 200, await got.clone().text());
    assert.equal(got.headers.get('x-gatehouse-dropped'), 'tools[web_search]');
    await got.text();
    const expected = body
      .replace(`"model":"${MODEL}"`, '"model":"upstream-model","max_output_tokens":1000')
      .replace(', {"type":"web_search","external_web_access":false}', '');
    assert.equal(bench.provider.asked.at(-1)?.text, expected);
  });

  it("200 for a turn of Codex with the organisation's own key: its search is its own bill", async () => {
    const own = await issueKey(bench.database);
    await storeVaultKey(bench.database, own, `provider of ${MODEL}`, 'sk-own-0123456789');
    bench.provider.script = sse(completed([], { input: 900, output: 4, cached: 100 }));
    const got = await bench.gateway.post(PATH, own.secret, codexBody(MODEL));
    await got.text();
    assert.equal(got.headers.get('x-gatehouse-dropped'), null);
    const expected = codexBody('upstream-model').replace(
      '"upstream-model"',
      '"upstream-model","max_output_tokens":1000',
    );
    assert.equal(bench.provider.asked.at(-1)?.text, expected);
    await bench.assertRecord(got, { isByok: true, promptTokens: 800, cacheReadInputTokens: 100 });
  });

  it('200 with the search where the route prices it, by the call', async () => {
    const calls = [
      { type: 'web_search_call', action: { type: 'search', query: 'q' } },
      messageItem('Found.'),
    ];
    bench.provider.script = json(response(calls, { input: 10, output: 2 }));
    const got = await ask({ model: 'mock/searching', tools: [{ type: 'web_search' }] });
    assert.equal(got.status, 200, await got.clone().text());
    assert.deepEqual(bench.provider.asked.at(-1)?.body['tools'], [{ type: 'web_search' }]);
    await bench.assertRecord(got, { costMicroPkr: 10n * INPUT + 2n * OUTPUT + 2_850_000n });
  });

  for (const [title, body, param] of [
    ['a forced search', { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }, 'tools'],
    ['code that runs at the provider', { tools: [{ type: 'code_interpreter' }] }, 'tools'],
    ['a server of tools', { tools: [{ type: 'mcp', server_url: 'https://a.example' }] }, 'tools'],
    [
      'a search in a namespace',
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }] },
      'tools',
    ],
    [
      'a server of tools in the input',
      { input: [{ type: 'additional_tools', tools: [{ type: 'mcp' }] }], tools: [] },
      'tools',
    ],
    [
      'a search in the input alone',
      { input: [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }] },
      'tools',
    ],
    ['dearer processing', { service_tier: 'priority' }, 'service_tier'],
    ['work in the background', { background: true }, 'background'],
    ['no input', { input: null }, 'input'],
  ] as const) {
    it(`400 for ${title}, and nothing is sent`, async () => {
      const before = bench.provider.asked.length;
      const refusal = { status: 400, code: 'invalid_request', type: 'invalid_request_error', param };
      await assertError(await ask(body), refusal);
      assert.equal(bench.provider.asked.length, before);
    });
  }

  for (const [title, members, sent] of [
    ['ten where the caller states no limit', {}, 10],
    [
      'ten where it states one that the API does not have',
      { tools: [{ type: 'web_search', max_uses: 1 }] },
      10,
    ],
    ["the caller's own", { max_tool_calls: 3 }, 3],
    ['a thousand at most', { max_tool_calls: 4_000 }, 1_000],
  ] as const) {
    it(`200 with the calls that are held told to the provider: ${title}`, async () => {
      const key = await issueKey(bench.database);
      let held = 0n;
      bench.provider.script = async (reply, asked) => {
        held = (await moneyOf(bench.database, key.id)).keyHeld;
        await json(response([], { input: 9, output: 1 }))(reply, asked);
      };
      const body = {
        model: 'mock/searching',
        tools: [{ type: 'web_search' }],
        max_output_tokens: 10,
        ...members,
      };
      const got = await ask(body, {}, key.secret);
      assert.equal(got.status, 200);
      await got.text();
      assert.equal(bench.provider.asked.at(-1)?.body['max_tool_calls'], sent);
      const calls = BigInt(sent) * 2_850_000n;
      assert.ok(held >= calls && held < calls + 10_000n * INPUT, `${held} for ${calls}`);
    });
  }

  it('200 with the calls as the caller says with its own key', async () => {
    const own = await issueKey(bench.database);
    await storeVaultKey(bench.database, own, 'provider of mock/searching', 'sk-own-0123456789');
    bench.provider.script = json(response([], { input: 9, output: 1 }));
    const got = await ask({ model: 'mock/searching', tools: [{ type: 'web_search' }] }, {}, own.secret);
    await got.text();
    assert.equal(bench.provider.asked.at(-1)?.body['max_tool_calls'], undefined);
  });

  it('200 holds the whole context for an item that the provider keeps, and 400 where it is not stated', async () => {
    const key = await issueKey(bench.database);
    let held: bigint | undefined;
    bench.provider.script = async (reply, asked) => {
      held = (await moneyOf(bench.database, key.id)).keyHeld;
      await json(response([], { input: 9, output: 1 }))(reply, asked);
    };
    const body = { input: [{ type: 'item_reference', id: 'msg_1' }], max_output_tokens: 10 };
    const got = await ask({ ...body, model: 'mock/context' }, {}, key.secret);
    assert.equal(got.status, 200);
    await got.text();
    assert.equal(held, 50_000n * INPUT + 10n * OUTPUT);
    const message = await assertError(await ask(body), {
      status: 400,
      code: 'invalid_request',
      type: 'invalid_request_error',
      param: 'input',
    });
    assert.match(message, /item_reference/);
  });

  it("400 for what another organisation's request may have left in the platform's account", async () => {
    for (const [param, value] of [
      ['previous_response_id', 'some_1'],
      ['conversation', 'some_1'],
      ['prompt', { id: 'some_1' }],
    ] as const) {
      const before = bench.provider.asked.length;
      const refusal = { status: 400, code: 'invalid_request', type: 'invalid_request_error', param };
      assert.match(
        await assertError(await ask({ [param]: value, model: 'mock/context' }), refusal),
        /own key/,
      );
      assert.equal(bench.provider.asked.length, before);
    }
  });

  it("200 with the provider's own failure in a stream", async () => {
    const failed = { status: 'failed', error: { code: 'server_error', message: 'overloaded' } };
    const end = event('response.failed', { response: response([], undefined, failed) });
    bench.provider.script = sse(textDelta('Hello'), end);
    const got = await ask({ stream: true });
    assert.equal(await got.text(), textDelta('Hello') + end);
    await bench.assertRecord(got, { status: 200, upstreamError: 'overloaded', tokensGenerated: 1 });
  });

  describe('from a provider that lies', () => {
    const usage = { input_tokens: 9, output_tokens: 4, total_tokens: 12 };

    it('200 whose contradictory usage is flagged', async () => {
      bench.provider.script = json({ ...response([messageItem('Hi')]), usage });
      const got = await ask();
      await got.text();
      const { upstreamError, tokensEstimated } = await bench.recordOf(got);
      assert.match(upstreamError ?? '', /disagree/);
      assert.equal(tokensEstimated, true);
    });

    for (const [title, stated] of [
      ['negative', { input_tokens: -9, output_tokens: -4, total_tokens: -13 }],
      ['missing', undefined],
      ['null', null],
      ['text', { input_tokens: '9', output_tokens: '4' }],
    ] as const) {
      it(`200 counted here where its usage is ${title}`, async () => {
        const end = event('response.completed', { response: { ...response([]), usage: stated } });
        bench.provider.script = sse(textDelta('Hello there'), end);
        const got = await ask({ stream: true });
        await got.text();
        await bench.assertRecord(got, { tokensEstimated: true, promptTokens: 8, tokensGenerated: 2 });
      });
    }

    it('200 settled at what is possible where its usage is huge', async () => {
      bench.provider.script = json(response([messageItem('Hi')], { input: 1e12, output: 1e12 }));
      const got = await ask();
      await got.text();
      await bench.assertRecord(got, { tokensEstimated: true, tokensGenerated: 1_000 });
    });

    it('200 with its events out of order, and none after the first end', async () => {
      const [created = '', ...others] = messageEvents('Hi');
      const end = completed([messageItem('Hi')], { input: 9, output: 4 });
      const events = [...others.toReversed(), created];
      bench.provider.script = sse(...events, end, completed([], { input: 1, output: 1 }), textDelta('more'));
      const got = await ask({ stream: true });
      assert.equal(await got.text(), [...events, end].join(''));
      await bench.assertRecord(got, { promptTokens: 9, tokensGenerated: 4, terminationReason: 'success' });
    });

    it('200 with an error at the end of a stream that only stops', async () => {
      bench.provider.script = sse(...messageEvents('Hi there'));
      const got = await ask({ stream: true });
      assert.match(await got.text(), /event: response\.failed\ndata: .*"code":"upstream_error".*\n\n$/);
      await bench.assertRecord(got, { terminationReason: 'upstream_stream_aborted', tokensGenerated: 2 });
    });

    it('200 with an error for an event of 64 MB, of which no more than 4 MiB are kept', async () => {
      bench.provider.script = async (reply, { aborted }) => {
        reply.writeHead(200, { 'content-type': 'text/event-stream' });
        await flush(reply, `${textDelta('Hello')}data: `);
        let isOver = false;
        void aborted.then(() => {
          isOver = true;
        });
        for (let sent = 0; sent < 64 && !isOver; sent += 1) {
          if (!reply.write('x'.repeat(1024 * 1024))) await Promise.race([once(reply, 'drain'), aborted]);
        }
      };
      const got = await ask({ stream: true });
      assert.match(await got.text(), /event: response\.failed\n/);
      await bench.assertRecord(got, { upstreamError: 'sent an event that is too large', tokensGenerated: 1 });
    });
  });

  it("429 of the provider's own passes as it came", async () => {
    const error = '{ "error": {"message":"Slow down.","type":"requests","code":"rate_limit_exceeded"} }';
    bench.provider.script = json(error, 429, { 'retry-after': '7' });
    const got = await ask({ stream: true });
    assert.equal(got.status, 429);
    assert.equal(got.headers.get('retry-after'), '7');
    assert.equal(await got.text(), error);
    await bench.assertRecord(got, { status: 429, costMicroPkr: 0n, upstreamError: 'Slow down.' });
  });

  it('200 with an error, and a failure for Codex, when the time of the route is over', async () => {
    bench.provider.script = async (reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(reply, textDelta('Hello'));
    };
    const got = await ask({ stream: true });
    const reader = got.body?.getReader() ?? assert.fail();
    assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), textDelta('Hello'));
    bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
    let rest = '';
    for (let read = await reader.read(); !read.done; read = await reader.read())
      rest += Buffer.from(read.value).toString();
    assert.match(rest, /^event: error\ndata: \{"type":"error",.*"code":"upstream_timeout"/);
    assert.match(rest, /\n\nevent: response\.failed\ndata: \{.*"status":"failed".*\}\n\n$/);
    await bench.assertRecord(got, { terminationReason: 'proxy_guillotine', tokensGenerated: 1 });
  });

  it('200 whose caller leaves pays for what the provider says in the end', async () => {
    const { promise: hasLeft, resolve: leave } = Promise.withResolvers<void>();
    bench.provider.script = async (reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(reply, textDelta('Hello'));
      await hasLeft;
      reply.end(completed([messageItem('Hello there, all of you.')], { input: 9, output: 70 }));
    };
    const leaving = new AbortController();
    const got = await ask({ stream: true }, { signal: leaving.signal });
    await got.body?.getReader().read();
    leaving.abort();
    await bench.gateway.time.started(READ_ON_MS);
    leave();
    await bench.assertRecord(got, {
      terminationReason: 'client_disconnect',
      tokensGenerated: 70,
      tokensEstimated: false,
      costMicroPkr: 9n * INPUT + 70n * OUTPUT,
    });
  });

  it("200 without the platform's credential, should the provider repeat it", async () => {
    const events = messageEvents('The key is', ` ${PLATFORM_KEY}!`);
    bench.provider.script = sse(...events, completed([messageItem(PLATFORM_KEY)], { input: 1, output: 1 }));
    const text = await (await ask({ stream: true })).text();
    assert.ok(!text.includes(PLATFORM_KEY) && text.includes('[redacted]!'));
    bench.provider.script = json(response([messageItem(PLATFORM_KEY)], { input: 1, output: 1 }));
    assert.ok(!(await (await ask()).text()).includes(PLATFORM_KEY));
  });
});
