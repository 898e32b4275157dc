import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { READ_ON_MS } from '../steps/read-on.ts';
import { requestIdOf, useBench } from '../testing/bench.ts';
import { claudeCodeBody } from '../testing/claude-code-body.ts';
import {
  blockDelta,
  blockStart,
  blockStop,
  event,
  MESSAGE_STOP,
  message,
  messageDelta,
  messageStart,
  PING,
  textDelta,
  textMessage,
  textStream,
} from '../testing/mock-messages.ts';
import { flush, json, type Script, sse } from '../testing/mock-provider.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { addRoute, issueKey, moneyOf, PLATFORM_KEY, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

const MODEL = 'mock/claude';
const INPUT = 70n;
const OUTPUT = 560n;
const usage = { input_tokens: 9, output_tokens: 4 };
const events = textStream(['Hé', '☕'], { start: { ...usage, output_tokens: 1 }, end: { output_tokens: 4 } });

const bench = await useBench();

describe('POST /v1/messages', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    const anthropic = { protocol: 'anthropic', endpoints: ['messages'], baseUrl };
    await addRoute(bench.database, { ...anthropic, id: MODEL, aliases: ['claude-opus-4-8'] });
    await addRoute(bench.database, {
      ...anthropic,
      id: 'mock/long',
      aliases: ['claude-long'],
      maxOutputTokens: 128_000,
      maxInputTokens: 200_000,
    });
  });
  afterEach(async () => {
    bench.provider.asked.length = 0;
    await assertNoDelays(bench.gateway.time);
  });

  const ask = (
    body: object | string = {},
    { secret = bench.key.secret, ...init }: RequestInit & { secret?: string } = {},
  ) =>
    bench.gateway.post(
      '/v1/messages?beta=true',
      secret,
      typeof body === 'string'
        ? body
        : { model: MODEL, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...body },
      init,
    );
  const stream = { stream: true };

  describe('answered whole', () => {
    it('200 with the bytes of the provider, metered', async () => {
      const answer = `${JSON.stringify(textMessage('Hé☕', { ...usage, service_tier: 'standard' }))}\n`;
      bench.provider.script = json(answer);
      const response = await ask();
      assert.equal(response.status, 200);
      assert.equal(await response.text(), answer);
      await bench.assertRecord(response, {
        status: 200,
        model: MODEL,
        isStream: false,
        promptTokens: 9,
        tokensGenerated: 4,
        tokensEstimated: false,
        costMicroPkr: 9n * INPUT + 4n * OUTPUT,
        terminationReason: 'success',
      });
      const [asked] = bench.provider.asked;
      assert.deepEqual([asked?.method, asked?.path], ['POST', '/v1/messages']);
      assert.deepEqual(
        [asked?.headers['x-api-key'], asked?.headers.authorization, asked?.headers['anthropic-version']],
        [PLATFORM_KEY, undefined, '2023-06-01'],
      );
    });

    it("200 with the route's output cap where the caller names none", async () => {
      bench.provider.script = json(textMessage('x', usage));
      await ask({ max_tokens: undefined });
      assert.equal(bench.provider.asked[0]?.body['max_tokens'], 1_000);
    });

    it('200 with a cap of none, which only fills the cache', async () => {
      bench.provider.script = json(message([], { ...usage, output_tokens: 0 }, 'max_tokens'));
      const response = await ask({ max_tokens: 0 });
      assert.equal(response.status, 200);
      assert.equal(bench.provider.asked[0]?.body['max_tokens'], 0);
      await bench.assertRecord(response, { tokensGenerated: 0, costMicroPkr: 9n * INPUT });
    });

    it('200 counted with a tokenizer when the provider states no usage', async () => {
      bench.provider.script = json(message([{ type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }]));
      const response = await ask();
      const { tokensEstimated, tokensGenerated, promptTokens } = await bench.recordOf(response);
      assert.deepEqual([tokensEstimated, promptTokens], [true, 8]);
      assert.ok(tokensGenerated > 3);
    });

    it('200 settled at what is possible when the provider states more', async () => {
      for (const [impossible, prompt, completion] of [
        [{ input_tokens: 9, output_tokens: 10 ** 12 }, 9, 1_000],
        [{ input_tokens: 9, cache_read_input_tokens: 10 ** 12, output_tokens: 4 }, undefined, 4],
      ] as const) {
        bench.provider.script = json(textMessage('x', impossible));
        const record = await bench.recordOf(await ask());
        assert.deepEqual([record.tokensEstimated, record.tokensGenerated], [true, completion]);
        assert.ok(
          prompt === undefined ? (record.promptTokens ?? 0) < 10_000 : record.promptTokens === prompt,
        );
        assert.match(record.upstreamError ?? '', /where at most \d+ are possible/);
      }
    });

    for (const status of [400, 404, 413, 429, 500, 529] as const) {
      it(`${status} of the provider with its bytes, at no cost`, async () => {
        const body = `{"type":"error", "error":{"type":"x_error","message":"prompt is too long: 1 > 0"},"request_id":"req_1"}`;
        bench.provider.script = json(body, status, { 'retry-after': '7', 'request-id': 'req_1' });
        const response = await ask();
        assert.equal(response.status, status);
        assert.equal(await response.text(), body);
        assert.equal(response.headers.get('retry-after'), '7');
        await bench.assertRecord(response, {
          status,
          terminationReason: 'success',
          upstreamError: 'prompt is too long: 1 > 0',
          costMicroPkr: 0n,
        });
      });
    }

    it('502 for an answer that is no message, and for an error in a 200 its bytes', async () => {
      bench.provider.script = json('["no message"]');
      const refused = await ask();
      assert.equal(refused.status, 502);
      const { type, error, request_id: id } = (await refused.json()) as Record<string, unknown>;
      assert.deepEqual(
        [type, (error as { type: string }).type, id],
        ['error', 'api_error', requestIdOf(refused)],
      );
      const failure = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
      bench.provider.script = json(failure);
      const response = await ask();
      assert.deepEqual([response.status, await response.json()], [200, failure]);
      await bench.assertRecord(response, { upstreamError: 'Overloaded' });
    });

    it('200 without the credential of the provider', async () => {
      bench.provider.script = json(textMessage(`the key is ${PLATFORM_KEY}`, usage));
      assert.match(await (await ask()).text(), /the key is \[redacted\]"/);
    });
  });

  describe('streamed', () => {
    it('200 with the events byte for byte, wherever the packets split, and the times', async () => {
      const bytes = Buffer.from(events.join(''));
      for (let at = 1; at < bytes.length; at += 97) {
        bench.provider.script = sse(bytes.subarray(0, at), bytes.subarray(at));
        const response = await ask(stream);
        assert.equal(await response.text(), events.join(''));
        await bench.assertRecord(response, {
          isStream: true,
          promptTokens: 9,
          tokensGenerated: 4,
          tokensEstimated: false,
          costMicroPkr: 9n * INPUT + 4n * OUTPUT,
          terminationReason: 'success',
          upstreamError: null,
        });
      }
    });

    it('200 with each event as soon as it is here, a ping and a comment among them', async () => {
      const { promise: goOn, resolve: go } = Promise.withResolvers<void>();
      const first = `${messageStart(usage)}${PING}: still here\n\n`;
      bench.provider.script = async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        await flush(response, first);
        await goOn;
        response.end(events.slice(1).join(''));
      };
      const response = await ask(stream);
      const reader = response.body?.getReader() ?? assert.fail();
      let received = '';
      while (received.length < first.length) received += Buffer.from((await reader.read()).value ?? []);
      assert.equal(received, first);
      go();
      while (!(await reader.read()).done);
      await bench.recordOf(response);
    });

    it('200 without its end mark until the record is written', async () => {
      bench.provider.script = sse(...events);
      const { promise: written, resolve: write } = Promise.withResolvers<void>();
      bench.gateway.journal.before = () => written;
      const response = await ask(stream);
      const reader = response.body?.getReader() ?? assert.fail();
      const beforeTheEnd = Buffer.from(events.slice(0, -1).join(''));
      const received: Uint8Array[] = [];
      while (Buffer.concat(received).length < beforeTheEnd.length) {
        received.push((await reader.read()).value ?? new Uint8Array());
      }
      assert.deepEqual(Buffer.concat(received), beforeTheEnd);
      bench.gateway.journal.before = async () => {};
      write();
      assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), MESSAGE_STOP);
    });

    it('200 with thinking, parallel tools and a hosted tool as they came', async () => {
      const all = [
        messageStart({ ...usage, output_tokens: 1 }),
        blockStart({ type: 'thinking', thinking: '', signature: '' }),
        blockDelta({ type: 'thinking_delta', thinking: 'Two calls.' }),
        blockDelta({ type: 'signature_delta', signature: 'EqQBCkYIBxgCKkA=' }),
        blockStop(),
        blockStart({ type: 'redacted_thinking', data: 'EmwKAhgBEgy' }, 1),
        blockStop(1),
        blockStart({ type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }, 2),
        blockDelta({ type: 'input_json_delta', partial_json: '{"city":' }, 2),
        blockStart({ type: 'tool_use', id: 'toolu_2', name: 'weather', input: {} }, 3),
        blockDelta({ type: 'input_json_delta', partial_json: '"Lahore"}' }, 2),
        blockDelta({ type: 'input_json_delta', partial_json: '{"city":"Karachi"}' }, 3),
        blockStop(2),
        blockStop(3),
        blockStart({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }, 4),
        blockStart({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }, 5),
        event('something_new', { index: 6, value: 1.5 }),
        messageDelta({ output_tokens: 40 }, 'tool_use'),
        MESSAGE_STOP,
      ];
      bench.provider.script = sse(...all);
      const response = await ask(stream);
      assert.equal(await response.text(), all.join(''));
      await bench.assertRecord(response, { tokensGenerated: 40, tokensEstimated: false });
    });

    it('200 counted with a tokenizer when the provider states no usage, or none at the end', async () => {
      for (const given of [undefined, { input_tokens: 9, output_tokens: 1 }]) {
        bench.provider.script = sse(
          messageStart(given),
          textDelta('Hello there'),
          messageDelta(),
          MESSAGE_STOP,
        );
        const response = await ask(stream);
        await response.text();
        await bench.assertRecord(response, {
          promptTokens: given ? 9 : 8,
          tokensGenerated: 2,
          tokensEstimated: true,
        });
      }
    });

    it("200 with the provider's own error in the middle, and what came is billed", async () => {
      const failed = event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
      bench.provider.script = sse(
        messageStart({ input_tokens: 9, output_tokens: 1 }),
        textDelta('Hello there'),
        failed,
      );
      const response = await ask(stream);
      assert.ok((await response.text()).endsWith(failed));
      await bench.assertRecord(response, {
        status: 200,
        upstreamError: 'Overloaded',
        promptTokens: 9,
        tokensGenerated: 2,
      });
    });

    it('200 without the credential of the provider, also when it comes letter by letter', async () => {
      const letters = Array.from(`{"key":"${PLATFORM_KEY}"}`, (text) =>
        blockDelta({ type: 'input_json_delta', partial_json: text }),
      );
      bench.provider.script = sse(...events.slice(0, 3), ...letters, ...events.slice(-2));
      const text = await (await ask(stream)).text();
      const shown = Array.from(text.matchAll(/"partial_json":("(?:[^"\\]|\\.)*")/g), ([, json]) =>
        JSON.parse(json ?? ''),
      ).join('');
      assert.ok(shown.includes('[redacted]') && !shown.includes(PLATFORM_KEY.slice(0, 12)), shown);
      assert.ok(text.endsWith(MESSAGE_STOP));
    });
  });

  describe('cut short', () => {
    const silentAfter =
      (...sent: string[]): Script =>
      async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const one of sent) await flush(response, one);
      };
    const begun = [messageStart({ input_tokens: 9, output_tokens: 1 }), textDelta('Hello there')];

    it('200 with an error event when the time of the route is up', async () => {
      bench.provider.script = silentAfter(...begun);
      const asked = bench.provider.next();
      const response = await ask(stream);
      const reader = response.body?.getReader() ?? assert.fail();
      let text = '';
      while (!text.includes('Hello')) text += Buffer.from((await reader.read()).value ?? []);
      bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
      for (let read = await reader.read(); !read.done; read = await reader.read())
        text += Buffer.from(read.value);
      const last = text.split('\n\n').at(-2) ?? '';
      assert.match(last, /^event: error\ndata: \{"type":"error","error":\{"type":"timeout_error","message":/);
      assert.ok(last.includes(`"request_id":"${requestIdOf(response)}"`));
      await (await asked).aborted;
      await bench.assertRecord(response, {
        terminationReason: 'proxy_guillotine',
        promptTokens: 9,
        tokensGenerated: 2,
        costMicroPkr: 9n * INPUT + 2n * OUTPUT,
      });
    });

    it('504 in the form of Anthropic before an answer has begun', async () => {
      bench.provider.script = () => {};
      const asked = bench.provider.next();
      const answer = ask(stream);
      await asked;
      bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
      const response = await answer;
      assert.equal(response.status, 504);
      const { error } = (await response.json()) as { error: { type: string } };
      assert.equal(error.type, 'timeout_error');
    });

    it('200 with an error event when the stream of the provider breaks', async () => {
      bench.provider.script = async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const one of begun) await flush(response, one);
        response.destroy();
      };
      const response = await ask(stream);
      const text = await response.text();
      assert.match(text.slice(begun.join('').length), /^event: error\ndata: \{"type":"error"/);
      await bench.assertRecord(response, {
        terminationReason: 'upstream_stream_aborted',
        promptTokens: 9,
        tokensGenerated: 2,
      });
    });

    it("200 of a caller that leaves pays for the provider's usage, and the provider is not cut off", async () => {
      const { promise: gone, resolve: isGone } = Promise.withResolvers<void>();
      bench.provider.script = async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const one of begun) await flush(response, one);
        await gone;
        response.end([textDelta('x'), messageDelta({ output_tokens: 900 }), MESSAGE_STOP].join(''));
      };
      const leaving = new AbortController();
      const response = await ask({ ...stream, max_tokens: 1_000 }, { signal: leaving.signal });
      await response.body?.getReader().read();
      const readsOn = bench.gateway.time.started(READ_ON_MS);
      leaving.abort();
      await readsOn;
      isGone();
      await bench.assertRecord(response, {
        status: 200,
        terminationReason: 'client_disconnect',
        promptTokens: 9,
        tokensGenerated: 900,
        tokensEstimated: false,
        costMicroPkr: 9n * INPUT + 900n * OUTPUT,
      });
    });
  });

  describe('of a coding agent', () => {
    it('200 with every byte of its body but the model and a cap that is lowered', async () => {
      for (const [model, cap] of [
        ['claude-long', 64_000],
        ['claude-opus-4-8', 1_000],
      ] as const) {
        const body = claudeCodeBody({ model });
        bench.provider.script = sse(...events);
        const response = await ask(body, {
          headers: {
            'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14',
            'anthropic-version': '2023-06-01',
            'anthropic-dangerous-direct-browser-access': 'true',
          },
        });
        assert.equal(await response.text(), events.join(''));
        const asked = bench.provider.asked.at(-1);
        assert.equal(
          asked?.text,
          body
            .replace(`"model":"${model}"`, '"model":"upstream-model"')
            .replace('"max_tokens":64000', `"max_tokens":${cap}`),
        );
        assert.equal(
          asked?.headers['anthropic-beta'],
          'claude-code-20250219,interleaved-thinking-2025-05-14',
        );
        assert.equal(asked?.headers['anthropic-dangerous-direct-browser-access'], 'true');
        assert.equal((await bench.recordOf(response)).model, model);
      }
    });
  });

  describe('refused', () => {
    const assertRefused = async (response: Response, status: number, type: string, retries = true) => {
      assert.equal(response.status, status);
      const {
        type: kind,
        error,
        request_id: id,
        ...others
      } = (await response.json()) as Record<string, unknown>;
      assert.deepEqual([kind, id, others], ['error', requestIdOf(response), {}]);
      const { type: errorType, message: sentence, ...more } = error as Record<string, unknown>;
      assert.deepEqual([errorType, more], [type, {}]);
      assert.ok(typeof sentence === 'string' && sentence.length > 10);
      assert.equal(response.headers.get('x-should-retry'), retries ? null : 'false');
      return sentence;
    };

    it('400 that names what is wrong with the body', async () => {
      assert.match(
        await assertRefused(await ask({ messages: [] }), 400, 'invalid_request_error'),
        /^messages /,
      );
      assert.match(
        await assertRefused(await ask({ max_tokens: -1 }), 400, 'invalid_request_error'),
        /^max_tokens /,
      );
      await assertRefused(await ask('{'), 400, 'invalid_request_error');
    });

    it('400 for what the price of the model does not cover, by name', async () => {
      for (const [member, members] of [
        ['service_tier', { service_tier: 'priority' }],
        ['speed', { speed: 'fast' }],
        ['inference_geo', { inference_geo: 'us' }],
        ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://example.com' }] }],
        ['container', { container: 'container_1' }],
        ['thread', { thread: { type: 'create' } }],
        ['tools', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
        ['tools', { tools: [{ name: 'own' }, { type: 'code_execution_20250825', name: 'code_execution' }] }],
      ] as const) {
        const sentence = await assertRefused(await ask(members), 400, 'invalid_request_error');
        assert.ok(sentence.startsWith(member), sentence);
      }
      assert.equal(bench.provider.asked.length, 0);
    });

    it('400 for an image where nothing says how many tokens it can be', async () => {
      const content = [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }];
      const sentence = await assertRefused(
        await ask({ messages: [{ role: 'user', content }] }),
        400,
        'invalid_request_error',
      );
      assert.match(sentence, / image/);
      bench.provider.script = json(textMessage('x', usage));
      const response = await ask({ model: 'mock/long', messages: [{ role: 'user', content }] });
      assert.equal(response.status, 200);
    });

    it('401 for a wrong key, 403 and 404 for a model, 402 without credit, 429 beyond the rate', async () => {
      await assertRefused(await ask({}, { secret: 'sk_svc_no' }), 401, 'authentication_error', false);
      const limited = await issueKey(bench.database, { allowedModels: ['mock/other'] });
      await assertRefused(await ask({}, { secret: limited.secret }), 403, 'permission_error');
      await assertRefused(await ask({ model: 'claude-none' }), 404, 'not_found_error');
      const poor = await issueKey(bench.database, { creditLimitMicroPkr: 1_000n });
      await assertRefused(await ask({}, { secret: poor.secret }), 402, 'billing_error', false);
      const slow = await issueKey(bench.database, { rateLimitRpm: 1 });
      bench.provider.script = json(textMessage('x', usage));
      await ask({}, { secret: slow.secret });
      const refused = await ask({}, { secret: slow.secret });
      await assertRefused(refused, 429, 'rate_limit_error');
      assert.equal(refused.headers.get('retry-after'), '60');
    });

    it('200 with a lowered cap where the credit does not cover the one that is asked for', async () => {
      const poor = await issueKey(bench.database, { creditLimitMicroPkr: 12n * INPUT + 1_100n * OUTPUT });
      bench.provider.script = json(textMessage('x', usage));
      const response = await ask({ model: 'mock/long', max_tokens: 64_000 }, { secret: poor.secret });
      assert.equal(response.headers.get('x-gatehouse-output-limit'), '1100');
      assert.equal(bench.provider.asked[0]?.body['max_tokens'], 1_100);
      const money = await moneyOf(bench.database, poor.id);
      // Not below what is set aside for thinking: the provider would refuse such a cap.
      const thinking = { type: 'enabled', budget_tokens: 1_200 };
      const refused = await ask(
        { model: 'mock/long', max_tokens: 64_000, thinking },
        { secret: poor.secret },
      );
      await assertRefused(refused, 402, 'billing_error', false);
      assert.ok(money.keyHeld <= 9n * INPUT + 4n * OUTPUT);
    });
  });
});
