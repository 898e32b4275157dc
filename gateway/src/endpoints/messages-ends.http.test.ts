import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { READ_ON_MS } from '../attempt/read-on.ts';
import { requestIdOf } from '../testing/bench.ts';
import { claudeCodeBody } from '../testing/claude-code-body.ts';
import {
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  textDelta,
  textMessage,
} from '../testing/mock-messages.ts';
import { flush, json, type Script, sse } from '../testing/mock-provider.ts';
import { issueKey, moneyOf, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';
import { events, INPUT, OUTPUT, usage, useMessages } from './messages.fixture.ts';

const { bench, ask } = await useMessages();
const stream = { stream: true };

describe('POST /v1/messages that ends early, is long or is refused', () => {
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

    it('200 without a beta that raises the context, which the answer names', async () => {
      bench.provider.script = sse(...events);
      const headers = { 'anthropic-beta': 'claude-code-20250219,context-1m-2025-08-07' };
      const response = await ask(claudeCodeBody({ model: 'claude-long' }), { headers });
      await response.text();
      assert.equal(bench.provider.asked.at(-1)?.headers['anthropic-beta'], 'claude-code-20250219');
      assert.equal(response.headers.get('x-gatehouse-dropped'), 'anthropic-beta[context-1m-2025-08-07]');
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
