import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestIdOf } from '../testing/bench.ts';
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
} from '../testing/mock-messages.ts';
import { flush, json, sse } from '../testing/mock-provider.ts';
import { PLATFORM_KEY } from '../testing/test-gateway.ts';
import { events, INPUT, MODEL, OUTPUT, usage, useMessages } from './messages.fixture.ts';

const { bench, ask } = await useMessages();
const stream = { stream: true };

describe('POST /v1/messages', () => {
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

    it('502 for an answer that is no message, and for an error in a 200, whose words it has', async () => {
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
      assert.equal(response.status, 502);
      assert.match(await response.text(), /"type":"api_error","message":"[^"]*Overloaded/);
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

    it('200 without the credential of the provider, wherever the packets split its event', async () => {
      const delta = blockDelta({ type: 'input_json_delta', partial_json: `{"key":"${PLATFORM_KEY}"}` });
      const packets = delta.split(PLATFORM_KEY.slice(8));
      assert.equal(packets.length, 2);
      bench.provider.script = sse(
        ...events.slice(0, 3),
        packets[0] ?? '',
        PLATFORM_KEY.slice(8),
        packets[1] ?? '',
        ...events.slice(-2),
      );
      const text = await (await ask(stream)).text();
      assert.ok(text.includes(delta.replace(PLATFORM_KEY, '[redacted]')), text);
      assert.ok(text.endsWith(MESSAGE_STOP));
    });
  });
});
