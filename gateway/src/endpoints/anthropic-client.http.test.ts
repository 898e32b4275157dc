import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import Anthropic, {
  APIConnectionError,
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { READ_ON_MS } from '../attempt/read-on.ts';
import { useBench } from '../testing/bench.ts';
import {
  blockDelta,
  blockStart,
  blockStop,
  MESSAGE_STOP,
  message,
  messageDelta,
  messageStart,
  PING,
  textMessage,
  textStream,
} from '../testing/mock-messages.ts';
import { flush, json, sse } from '../testing/mock-provider.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { addRoute, issueKey, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

const MODEL = 'claude-opus-4-8';
const usage = { input_tokens: 9, output_tokens: 4 };
const request = { model: MODEL, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
const tools = [
  { name: 'weather', description: 'The weather of a city.', input_schema: { type: 'object' as const } },
];

const bench = await useBench();

describe("Anthropic's own client, with only its address and key changed", () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    const route = { protocol: 'anthropic', endpoints: ['messages'], baseUrl, aliases: [MODEL] };
    await addRoute(bench.database, { ...route, id: 'anthropic/claude-opus-4-8', maxInputTokens: 200_000 });
  });
  afterEach(async () => {
    bench.provider.asked.length = 0;
    await assertNoDelays(bench.gateway.time);
  });

  const client = (key = bench.key.secret, options: ConstructorParameters<typeof Anthropic>[0] = {}) =>
    new Anthropic({
      apiKey: null,
      authToken: key,
      baseURL: `http://127.0.0.1:${bench.gateway.port}`,
      maxRetries: 0,
      ...options,
    });
  const lastRecord = async (before: number) => {
    await bench.gateway.journal.count(before + 1);
    return bench.gateway.journal.records.at(-1) ?? assert.fail();
  };

  it('gets an answer, with either form of its key', async () => {
    bench.provider.script = json(textMessage('Hé☕.', { ...usage, cache_read_input_tokens: 5 }));
    const withApiKey = client('', { apiKey: bench.key.secret, authToken: null });
    for (const sdk of [client(), withApiKey]) {
      const before = bench.gateway.journal.records.length;
      const answer = await sdk.messages.create(request);
      assert.deepEqual(answer.content, [{ type: 'text', text: 'Hé☕.' }]);
      assert.deepEqual([answer.usage.input_tokens, answer.usage.cache_read_input_tokens], [9, 5]);
      const record = await lastRecord(before);
      assert.deepEqual([record.promptTokens, record.tokensGenerated, record.model], [14, 4, MODEL]);
    }
    const [asked] = bench.provider.asked;
    assert.match(asked?.headers['anthropic-version'] as string, /^\d{4}-\d\d-\d\d$/);
    assert.equal(asked?.text, JSON.stringify({ ...request, model: 'upstream-model' }));
  });

  it('gets a stream, piece by piece and put together', async () => {
    bench.provider.script = sse(
      ...textStream(['Hé', '☕'], { start: { ...usage, output_tokens: 1 }, end: { output_tokens: 4 } }),
    );
    const stream = client().messages.stream(request);
    const texts: string[] = [];
    stream.on('text', (text) => texts.push(text));
    const answer = await stream.finalMessage();
    assert.deepEqual(texts, ['Hé', '☕']);
    assert.deepEqual(answer.content, [{ type: 'text', text: 'Hé☕' }]);
    assert.deepEqual([answer.usage.input_tokens, answer.usage.output_tokens], [9, 4]);
    const types: string[] = [];
    for await (const event of await client().messages.create({ ...request, stream: true }))
      types.push(event.type);
    assert.deepEqual([types.at(0), types.at(-1)], ['message_start', 'message_stop']);
  });

  it('gets thinking and parallel calls of tools out of a stream, and sends their results', async () => {
    const input = (text: string, index: number) =>
      blockDelta({ type: 'input_json_delta', partial_json: text }, index);
    bench.provider.script = sse(
      messageStart({ ...usage, output_tokens: 1 }),
      blockStart({ type: 'thinking', thinking: '', signature: '' }),
      blockDelta({ type: 'thinking_delta', thinking: 'Two cities.' }),
      blockDelta({ type: 'signature_delta', signature: 'EqQBCkYIBxgCKkA=' }),
      blockStop(),
      PING,
      blockStart({ type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }, 1),
      input('{"city":', 1),
      input('"Lahore"}', 1),
      blockStop(1),
      blockStart({ type: 'tool_use', id: 'toolu_2', name: 'weather', input: {} }, 2),
      input('{"city":"Karachi"}', 2),
      blockStop(2),
      messageDelta({ output_tokens: 40 }, 'tool_use'),
      MESSAGE_STOP,
    );
    const first = await client()
      .messages.stream({ ...request, tools })
      .finalMessage();
    assert.equal(first.stop_reason, 'tool_use');
    const calls = first.content.filter((block) => block.type === 'tool_use');
    assert.deepEqual(
      calls.map(({ id, input: given }) => [id, given]),
      [
        ['toolu_1', { city: 'Lahore' }],
        ['toolu_2', { city: 'Karachi' }],
      ],
    );
    bench.provider.script = json(textMessage('Warm.', usage));
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png' as const, data: 'iVBORw0KGgo=' },
    };
    const next = {
      ...request,
      tools,
      messages: [
        ...request.messages,
        { role: 'assistant' as const, content: first.content },
        {
          role: 'user' as const,
          content: calls.map(({ id }) => ({
            type: 'tool_result' as const,
            tool_use_id: id,
            content: [{ type: 'text' as const, text: '30 °C' }, image],
          })),
        },
      ],
    };
    assert.equal((await client().messages.create(next)).stop_reason, 'end_turn');
    assert.equal(bench.provider.asked.at(-1)?.text, JSON.stringify({ ...next, model: 'upstream-model' }));
  });

  it('gets JSON of a schema', async () => {
    bench.provider.script = json(textMessage('{"answer":4}', usage));
    const answer = await client().messages.create({
      ...request,
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    });
    assert.deepEqual(answer.content, [{ type: 'text', text: '{"answer":4}' }]);
  });

  it('gets a count of tokens', async () => {
    bench.provider.script = json({ input_tokens: 14 });
    const { max_tokens: _, ...prompt } = request;
    assert.equal((await client().messages.countTokens(prompt)).input_tokens, 14);
  });

  it('asks the beta surface with its betas', async () => {
    bench.provider.script = json(message([], { ...usage, output_tokens: 0 }));
    await client().beta.messages.create({ ...request, betas: ['context-management-2025-06-27'] });
    const [asked] = bench.provider.asked;
    assert.deepEqual(
      [asked?.path, asked?.headers['anthropic-beta']],
      ['/v1/messages', 'context-management-2025-06-27'],
    );
  });

  it('aborts a stream, and the rest of the answer is still accounted for', async () => {
    const { promise: gone, resolve: isGone } = Promise.withResolvers<void>();
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(
        response,
        messageStart({ ...usage, output_tokens: 1 }) + blockStart({ type: 'text', text: 'Hé' }),
      );
      await gone;
      response.end(messageDelta({ output_tokens: 70 }) + MESSAGE_STOP);
    };
    const before = bench.gateway.journal.records.length;
    const stream = await client().messages.create({ ...request, stream: true });
    const readsOn = bench.gateway.time.started(READ_ON_MS);
    for await (const event of stream) if (event.type === 'content_block_start') stream.controller.abort();
    await readsOn;
    isGone();
    const record = await lastRecord(before);
    assert.deepEqual([record.terminationReason, record.tokensGenerated], ['client_disconnect', 70]);
  });

  it('tries again what is worth it, and nothing else', async () => {
    for (const [status, headers, attempts] of [
      [529, {}, 3],
      [503, { 'retry-after-ms': '1' }, 3],
      [429, { 'retry-after-ms': '1' }, 3],
      [529, { 'x-should-retry': 'false' }, 1],
      [400, {}, 1],
    ] as const) {
      bench.provider.asked.length = 0;
      const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
      bench.provider.script = json(body, status, { 'retry-after-ms': '1', ...headers });
      await assert.rejects(client(bench.key.secret, { maxRetries: 2 }).messages.create(request), (error) => {
        assert.ok(error instanceof APIError);
        assert.equal(error.status, status);
        return true;
      });
      assert.equal(bench.provider.asked.length, attempts, `${status}`);
    }
  });

  it('throws its own errors for our refusals, after one attempt', async () => {
    const rejects = async (
      key: string,
      body: Partial<typeof request>,
      expected: new (...args: never[]) => Error,
      type: string,
    ) => {
      const lines = bench.gateway.logged.length;
      const sdk = client(key, { maxRetries: expected === RateLimitError ? 0 : 2 });
      await assert.rejects(sdk.messages.create({ ...request, ...body }), (error) => {
        assert.ok(error instanceof expected && error instanceof APIError, String(error));
        const { type: kind, error: inner, request_id: id } = error.error as Record<string, unknown>;
        assert.deepEqual([kind, (inner as { type: string }).type], ['error', type]);
        assert.match(String(id), /^[0-9a-f-]{36}$/);
        return true;
      });
      const attempts = bench.gateway.logged
        .slice(lines)
        .filter(({ operation }) => operation === 'createMessage');
      assert.equal(attempts.length, 1);
    };
    const { secret } = bench.key;
    const limited = await issueKey(bench.database, { allowedModels: ['mock/model'] });
    const expired = await issueKey(bench.database, { expiresIn: '-1 second' });
    const poor = await issueKey(bench.database, { creditLimitMicroPkr: 1_000n });
    const slow = await issueKey(bench.database, { rateLimitRpm: 1 });
    await rejects('sk_svc_no', {}, AuthenticationError, 'authentication_error');
    await rejects(expired.secret, {}, AuthenticationError, 'authentication_error');
    await rejects(poor.secret, {}, APIError, 'billing_error');
    await rejects(limited.secret, {}, PermissionDeniedError, 'permission_error');
    await rejects(secret, { model: 'claude-none' }, NotFoundError, 'not_found_error');
    await rejects(secret, { messages: [] }, BadRequestError, 'invalid_request_error');
    await rejects(secret, { service_tier: 'priority' } as object, BadRequestError, 'invalid_request_error');
    bench.provider.script = json(textMessage('x', usage));
    await client(slow.secret).messages.create(request);
    await rejects(slow.secret, {}, RateLimitError, 'rate_limit_error');
  });

  it('throws the error event, and no broken connection, when a stream is cut or its time is up', async () => {
    const begin = messageStart({ ...usage, output_tokens: 1 });
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, begin);
      response.destroy();
    };
    const isOf = (type: string) => (error: unknown) => {
      assert.ok(error instanceof APIError && !(error instanceof APIConnectionError), String(error));
      assert.equal((error.error as { error: { type: string } }).error.type, type);
      return true;
    };
    const cut = await client().messages.create({ ...request, stream: true });
    await assert.rejects(Array.fromAsync(cut), isOf('api_error'));
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, begin);
    };
    const late = await client().messages.create({ ...request, stream: true });
    await assert.rejects(async () => {
      for await (const _ of late) bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
    }, isOf('timeout_error'));
    bench.provider.script = json('no answer');
    await assert.rejects(client().messages.create(request), InternalServerError);
  });
});
