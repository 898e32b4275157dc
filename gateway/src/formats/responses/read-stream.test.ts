import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { upstreamTimedOut } from '../../errors/upstream-errors.ts';
import {
  completed,
  event,
  messageEvents,
  messageItem,
  response,
  responsesUsage,
  textDelta,
} from '../../testing/mock-responses.ts';
import { countTokens } from '../../tokens/count-tokens.ts';
import { redactionOf } from '../../wire/redaction.ts';
import { EventTooLarge } from '../../wire/sse.ts';
import { responses } from './index.ts';

const SECRET = 'sk-platform-0123456789abcdef';

/** Passes the stream through in packets that end at these bytes. */
function pass(pieces: readonly string[], options: { at?: readonly number[]; secret?: string } = {}) {
  const redaction = redactionOf(options.secret);
  const stream = responses.openStream({ showsUsage: true, choices: 1, redaction });
  const bytes = Buffer.from(pieces.join(''));
  const ends = [...(options.at ?? []), bytes.length];
  const passed = ends.map((end, index) => stream.push(bytes.subarray(ends[index - 1] ?? 0, end)));
  return { stream, passed: Buffer.concat(passed).toString(), tail: stream.end().toString() };
}

const usage = { promptTokens: 9, completionTokens: 4, cacheReadTokens: 2, reasoningTokens: 1 };
const end = completed([messageItem('Hé☕')], { input: 9, output: 4, cached: 2, reasoning: 1 });

describe('a stream of responses', () => {
  it('passes byte for byte wherever the packets split, and keeps its last event back', () => {
    const events = messageEvents('Hé', '☕');
    const pieces = [': ping\n\n', ...events, end];
    const { length } = Buffer.from(pieces.join(''));
    for (let at = 0; at < length; at += 1) {
      const { stream, passed, tail } = pass(pieces, { at: [at] });
      assert.equal(passed, `: ping\n\n${events.join('')}`);
      assert.equal(tail, end);
      assert.deepEqual(stream.usage, usage);
      assert.ok(stream.hasContent && stream.isDone && stream.isComplete && stream.isUsageFinal);
      assert.equal(stream.upstreamError, null);
    }
  });

  for (const [title, odd] of [
    ['a comment', ': keep-alive\n\n'],
    ['lines that end in \\r\\n', event('response.in_progress', {}, '\r\n\r\n')],
    ['data that is no JSON', 'event: x\ndata: {"type":\n\n'],
    ['JSON that is no object', 'data: ["response.completed"]\n\n'],
    ['an event of tomorrow', 'data: {"type":"response.new","x":12345678901234567890,"y":1.50}\n\n'],
    ['a response in the middle with usage', event('response.in_progress', { response: { usage: null } })],
  ] as const) {
    it(`passes unchanged: ${title}`, () => {
      const { stream, passed } = pass([odd], { secret: SECRET });
      assert.equal(passed, odd);
      assert.deepEqual([stream.hasContent, stream.isComplete], [false, false]);
    });
  }

  for (const type of ['response.completed', 'response.incomplete', 'response.failed', 'response.done']) {
    it(`ends with ${type}, and drops what follows`, () => {
      const last = event(type, { response: response([], { input: 1, output: 2 }) });
      const { stream, passed, tail } = pass([textDelta('a'), last, textDelta('b'), 'data: [DONE]\n\n']);
      assert.deepEqual([passed, tail], [textDelta('a'), last]);
      assert.ok(stream.isDone && stream.isComplete);
      assert.deepEqual(stream.usage, {
        promptTokens: 1,
        completionTokens: 2,
        cacheReadTokens: 0,
        reasoningTokens: 0,
      });
    });
  }

  it('ends with the mark of other streams, where a server sends only that', () => {
    const { stream, tail } = pass([textDelta('a'), 'data: [DONE]\n\n']);
    assert.equal(tail, 'data: [DONE]\n\n');
    assert.equal(stream.isComplete, true);
  });

  it('reads a last event that lacks its blank line', () => {
    const { stream, tail } = pass([end.trimEnd()]);
    assert.equal(tail, end.trimEnd());
    assert.deepEqual(stream.usage, usage);
  });

  it('is not complete without an end', () => {
    assert.equal(pass(messageEvents('Hi')).stream.isComplete, false);
  });

  for (const [title, last, message] of [
    [
      'an error event',
      event('error', { code: 'server_error', message: 'overloaded', param: null }),
      'overloaded',
    ],
    ['an error event of the other form', event('error', { error: { message: 'overloaded' } }), 'overloaded'],
    ['an error without words', event('error', { code: 7 }), 'an error without a message'],
    [
      'a response that failed',
      event('response.failed', {
        response: response([], undefined, { status: 'failed', error: { message: 'overloaded' } }),
      }),
      'overloaded',
    ],
    [
      'a response that ends as complete and failed',
      event('response.completed', {
        response: response([], undefined, { status: 'failed', error: { message: 'overloaded' } }),
      }),
      'overloaded',
    ],
    ['a failure without words', event('response.failed', {}), 'an error without a message'],
  ] as const) {
    it(`says what went wrong: ${title}`, () => {
      const { stream, passed, tail } = pass([last]);
      assert.equal(passed + tail, last);
      assert.equal(stream.upstreamError, message);
      assert.equal(stream.isComplete, true);
    });
  }

  const item = (members: object, output_index = 0) => ({ output_index, item: members });
  const call = { type: 'function_call', name: 'look', arguments: '{"at":1}' };
  for (const [title, events, texts, hasReasoning] of [
    ['a message in pieces, not its repetitions', messageEvents('Hello', ' there'), ['Hello there'], false],
    [
      'a message that comes whole',
      [event('response.output_item.done', item(messageItem('Hello there')))],
      ['Hello there'],
      false,
    ],
    ['a refusal', [event('response.refusal.delta', { output_index: 0, delta: 'No.' })], ['No.'], false],
    [
      'the call of a tool, its name once',
      [
        event('response.output_item.added', item({ ...call, arguments: '' })),
        event('response.function_call_arguments.delta', { output_index: 0, delta: '{"at":1}' }),
        event('response.function_call_arguments.done', { output_index: 0, arguments: '{"at":1}' }),
        event('response.output_item.done', item(call)),
      ],
      ['look', '{"at":1}'],
      false,
    ],
    [
      'two calls at once, whatever ids their events have',
      [
        event('response.custom_tool_call_input.delta', { output_index: 0, item_id: 'a', delta: 'wor' }),
        event('response.custom_tool_call_input.delta', { output_index: 1, item_id: 'b', delta: 'hel' }),
        event('response.custom_tool_call_input.delta', { output_index: 0, item_id: 'c', delta: 'ld' }),
        event('response.custom_tool_call_input.delta', { output_index: 1, item_id: 'd', delta: 'lo' }),
      ],
      ['world', 'hello'],
      false,
    ],
    [
      'reasoning',
      [event('response.reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: 'Hm' })],
      ['Hm'],
      true,
    ],
    [
      'sealed reasoning, whose length says nothing',
      [
        event(
          'response.output_item.done',
          item({ type: 'reasoning', summary: [], encrypted_content: 'gAAA' }),
        ),
      ],
      [],
      true,
    ],
    [
      'sound by its words',
      [
        event('response.audio.delta', { delta: 'AAAA' }),
        event('response.audio.transcript.delta', { delta: 'Hello' }),
      ],
      ['Hello'],
      false,
    ],
  ] as const) {
    it(`counts ${title}`, async () => {
      const { stream } = pass(events);
      assert.equal(stream.hasContent, true);
      assert.equal(stream.hasReasoning, hasReasoning);
      assert.equal(await stream.countGenerated(countTokens), await countTokens(texts));
    });
  }

  it('counts what only the last event shows, where it has no usage', async () => {
    const { stream } = pass([completed([messageItem('Hello there')])]);
    assert.equal(stream.usage, undefined);
    assert.equal(stream.hasContent, true);
    assert.equal(await stream.countGenerated(countTokens), 2);
  });

  it('counts the searches of the answer', () => {
    const search = (action?: object) => ({ type: 'web_search_call', ...(action && { action }) });
    const { stream } = pass([
      completed(
        [search(), search({ type: 'search' }), search({ type: 'open_page' }), { type: 'file_search_call' }],
        { input: 1, output: 1 },
      ),
    ]);
    assert.deepEqual(stream.usage?.calls, { web_search: 2, file_search: 1 });
  });

  for (const [title, stated] of [
    ['negative', { input_tokens: -1, output_tokens: 2 }],
    ['huge', { input_tokens: 1e300, output_tokens: 2 }],
    ['text', { input_tokens: '3', output_tokens: 2 }],
    ['none', null],
  ] as const) {
    it(`does not believe usage that is no count: ${title}`, () => {
      const last = event('response.completed', { response: { ...response([]), usage: stated } });
      assert.equal(pass([last]).stream.usage, undefined);
    });
  }

  it('marks usage whose total is not that of its parts', () => {
    const stated = { ...responsesUsage({ input: 9, output: 4 }), total_tokens: 99 };
    const last = event('response.completed', { response: { ...response([]), usage: stated } });
    assert.equal(pass([last]).stream.usage?.isContradictory, true);
  });

  it('takes a credential out of a piece, the repetitions and the last event', () => {
    const events = messageEvents('The key is ', SECRET, ', keep it.');
    const last = completed([messageItem(`The key is ${SECRET}, keep it.`)], { input: 1, output: 2 });
    const { passed, tail } = pass([...events, last], { secret: SECRET });
    assert.equal(passed, events.join('').replaceAll(SECRET, '[redacted]'));
    assert.equal(tail, last.replaceAll(SECRET, '[redacted]'));
  });

  it('refuses an event that is too large, and keeps no more than that', () => {
    const stream = responses.openStream({ showsUsage: true, choices: 1 });
    const piece = Buffer.alloc(1024 * 1024, 'x');
    assert.throws(() => {
      for (let count = 0; count < 64; count += 1) stream.push(piece);
    }, EventTooLarge);
    assert.ok(stream.keptBytes <= 4 * 1024 * 1024);
  });

  it('keeps little of a stream with an item in every event', () => {
    const stream = responses.openStream({ showsUsage: true, choices: 1 });
    for (let index = 0; index < 20_000; index += 1) stream.push(Buffer.from(textDelta('x', index)));
    assert.ok(stream.keptBytes < 100_000);
  });
});

describe('a whole response', () => {
  const read = (body: object) => responses.readAnswer(Buffer.from(JSON.stringify(body)));

  it('states its usage and what it holds', () => {
    const answer = read(
      response([{ type: 'reasoning', summary: [] }, messageItem('Hi')], { input: 9, output: 4 }),
    );
    assert.equal(answer?.usage?.completionTokens, 4);
    assert.deepEqual([answer?.hasContent, answer?.hasReasoning, answer?.upstreamError], [true, true, null]);
    assert.equal(answer?.generated.isEmpty, true);
  });

  it('has reasoned where its usage says so, and shows nothing of it', () => {
    const answer = read(response([messageItem('Hi')], { input: 9, output: 4, reasoning: 3 }));
    assert.equal(answer?.hasReasoning, true);
  });

  it('is counted where it states none', async () => {
    const output = [messageItem('Hello there'), { type: 'function_call', name: 'look', arguments: '{}' }];
    const answer = read(response(output));
    assert.equal(
      await answer?.generated.countTokens(countTokens),
      await countTokens(['Hello there', 'look', '{}']),
    );
  });

  it('says why it failed', () => {
    const failed = response([], undefined, { status: 'failed', error: { code: 'x', message: 'overloaded' } });
    assert.equal(read(failed)?.upstreamError, 'overloaded');
    assert.equal(read(response([], undefined, { status: 'incomplete' }))?.upstreamError, null);
  });

  it('is none where it is no object', () => {
    assert.equal(responses.readAnswer(Buffer.from('[]')), undefined);
    assert.equal(responses.readAnswer(Buffer.from('<html>')), undefined);
  });
});

describe('the end of a stream of responses that the gateway ends', () => {
  it('is an error for SDKs and a failure for Codex', () => {
    const error = upstreamTimedOut(5_000);
    const text = responses.streamError(error, '0199-a')?.toString() ?? assert.fail();
    const { stream } = pass([text]);
    assert.equal(stream.upstreamError, error.message);
    assert.equal(stream.isDone, true);
    const [first, second] = text
      .trim()
      .split('\n\n')
      .map((one) => JSON.parse(one.split('data: ')[1] ?? '{}'));
    assert.deepEqual([first.error.code, first.message], ['upstream_timeout', error.message]);
    assert.deepEqual([second.response.error.code, second.response.id], ['upstream_timeout', 'resp_0199a']);
  });
});
