import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { useBench } from '../testing/bench.ts';
import { addRoute, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

interface Answer {
  readonly choices: { readonly message: { readonly content: string }; readonly finish_reason: string }[];
  readonly usage: Record<string, number>;
}

const bench = await useBench();

describe('demo/echo', () => {
  before(async () => {
    await addRoute(bench.database, {
      id: 'demo/echo',
      protocol: 'demo',
      apiKeyEnv: null,
      maxOutputTokens: 100,
    });
  });
  const say = (content: unknown, body: object = {}, init: RequestInit = {}) =>
    bench.gateway.chat(
      bench.key.secret,
      { model: 'demo/echo', messages: [{ role: 'user', content }], ...body },
      init,
    );

  it('200 with the last words of the user, and what they cost', async () => {
    const response = await say('ignored', {
      messages: [
        { role: 'user', content: 'not this' },
        {
          role: 'user',
          content: [
            { type: 'text', text: ' Echo, ' },
            { type: 'text', text: 'écho ☕!\n' },
          ],
        },
        { role: 'assistant', content: 'nor this' },
      ],
    });
    const answer = (await response.json()) as Answer;
    assert.equal(answer.choices[0]?.message.content, ' Echo, écho ☕!\n');
    assert.equal(answer.choices[0]?.finish_reason, 'stop');
    const record = await bench.recordOf(response);
    assert.equal(record.tokensEstimated, false);
    assert.equal(record.promptTokens, answer.usage['prompt_tokens']);
    assert.equal(record.tokensGenerated, answer.usage['completion_tokens']);
    assert.ok(record.tokensGenerated > 3 && record.costMicroPkr > 0n);
    assert.deepEqual([record.status, record.upstreamModel], [200, 'upstream-model']);
  });

  it('200 with no more than the caller or the route allows', async () => {
    const short = (await (await say('one two three four', { max_tokens: 2, n: 2 })).json()) as Answer;
    assert.deepEqual(
      short.choices.map((choice) => [choice.message.content, choice.finish_reason]),
      Array(2).fill(['one two', 'length']),
    );
    assert.equal(short.usage['completion_tokens'], 4);
    const long = (await (await say('word '.repeat(1_000))).json()) as Answer;
    assert.ok((long.usage['completion_tokens'] ?? 0) <= 100);
  });

  it('200 with as much as the route allows of a schema that stands for far more', async () => {
    const schema = { type: 'array', minItems: 9_000, items: { const: 'x'.repeat(3_000) } };
    const response = await say('Hi', {
      response_format: { type: 'json_schema', json_schema: { name: 's', schema } },
    });
    const answer = (await response.json()) as Answer;
    assert.deepEqual([answer.choices[0]?.finish_reason, answer.usage['completion_tokens']], ['length', 100]);
    assert.match(answer.choices[0]?.message.content ?? '', /^\["x{100}/);
    await bench.assertRecord(response, { tokensGenerated: 100, tokensEstimated: false });
  });

  it('200 with something to read when nothing was said', async () => {
    const answer = (await (
      await say('x', { messages: [{ role: 'system', content: 'x' }] })
    ).json()) as Answer;
    assert.ok(answer.choices[0]?.message.content);
  });

  it('200 word by word in a stream', async () => {
    const response = await say('one two three', { stream: true });
    const events = (await response.text()).split('\n\n').filter((event) => event !== '');
    assert.equal(events.pop(), 'data: [DONE]');
    const chunks = events.map((event) => JSON.parse(event.slice(6)) as Record<string, unknown>);
    const deltas = chunks.map(
      ({ choices }) => (choices as { delta: { content?: string } }[])[0]?.delta.content,
    );
    assert.deepEqual(deltas, ['', 'one', ' two', ' three', undefined]);
    assert.ok(chunks.every((chunk) => !('usage' in chunk)));
    await bench.assertRecord(response, { tokensGenerated: 3, tokensEstimated: false, ttftMs: 0 });
  });

  it('200 with usage in a stream for those who ask', async () => {
    const response = await say('one', { stream: true, stream_options: { include_usage: true } });
    assert.match(
      await response.text(),
      /"choices":\[\],"usage":\{"prompt_tokens":\d+,"completion_tokens":1,/,
    );
  });

  it('200 that stops when the caller leaves, and at its timeout', async () => {
    const leaving = new AbortController();
    const stream = { stream: true, max_tokens: 100 };
    const left = await say('word '.repeat(90), stream, { signal: leaving.signal });
    await left.body?.getReader().read();
    leaving.abort();
    const { terminationReason } = await bench.recordOf(left);
    assert.ok(['client_disconnect', 'success'].includes(terminationReason));
    assert.throws(() => bench.gateway.time.fire(ROUTE_TIMEOUT_MS), /nothing waits/);
  });
});
