import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  blockDelta,
  blockStart,
  event,
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  PING,
  textDelta,
  textStream,
} from '../../testing/mock-messages.ts';
import { countTokens } from '../../tokens/count-tokens.ts';
import { redactionOf } from '../../wire/redaction.ts';
import { EventTooLarge } from '../../wire/sse.ts';
import { messages } from './index.ts';

const OPTIONS = { showsUsage: true, choices: 1 };

/** Passes the stream through in packets that end at these bytes. */
function pass(pieces: readonly string[], { at = [], secret }: { at?: number[]; secret?: string } = {}) {
  const stream = messages.openStream({ ...OPTIONS, redaction: redactionOf(secret) });
  const bytes = Buffer.from(pieces.join(''));
  const ends = [...at, bytes.length];
  const passed = ends.map((end, index) => stream.push(bytes.subarray(ends[index - 1] ?? 0, end)));
  return { stream, passed: Buffer.concat(passed).toString(), tail: stream.end().toString() };
}

const pieces = textStream(['Hé', '☕'], {
  start: { input_tokens: 9, output_tokens: 1 },
  end: { output_tokens: 4 },
});

describe('a stream of messages', () => {
  it('passes every byte and keeps back the end mark, wherever the packets split', () => {
    const whole = Buffer.from(pieces.join(''));
    for (let at = 0; at < whole.length; at += 1) {
      const { stream, passed, tail } = pass(pieces, { at: [at] });
      assert.equal(passed + tail, whole.toString());
      assert.equal(tail, MESSAGE_STOP);
      assert.deepEqual(stream.usage, { promptTokens: 9, completionTokens: 4 });
      assert.ok(stream.hasContent && stream.isDone && stream.isComplete && stream.isUsageFinal);
    }
  });

  for (const [title, odd] of [
    ['a ping', PING],
    ['a comment', ': keep-alive\n\n'],
    ['blank lines', '\n\r\n'],
    ['an event that is not known', event('content_block_hint', { index: 0, n: 1.5 })],
    ['data that is no JSON', 'event: x\ndata: {"type":"message_st\n\n'],
    ['JSON that is no object', 'data: ["message_stop"]\n\n'],
    ['an event without data', 'event: ping\nid: 4\n\n'],
    ['odd formatting', 'data:{ "type" : "ping" ,"x":1.50,"y":12345678901234567890}\r\n\r\n'],
    ['a type that is no text', 'data: {"type":{"toString":1,"valueOf":1}}\n\n'],
    ['a block that is no object', event('content_block_start', { index: {}, content_block: [1] })],
    ['a block of an odd type', event('content_block_start', { content_block: { type: { toString: 1 } } })],
    ['a delta that is none', event('content_block_delta', { delta: null })],
    ['a start without a message', event('message_start', { message: 'x' })],
    ['an end without a delta', event('message_delta', { delta: 7, usage: [] })],
  ] as const) {
    it(`passes unchanged: ${title}`, () => {
      assert.equal(pass([odd]).passed, odd);
      assert.equal(pass([odd], { secret: 'sk-secret-0123456789' }).passed, odd);
    });
  }

  it('takes the usage for final only when nothing is generated after it', () => {
    const start = messageStart({ input_tokens: 9, output_tokens: 1 });
    const { stream } = pass([start]);
    assert.deepEqual(stream.usage, { promptTokens: 9, completionTokens: 1 });
    assert.deepEqual([stream.isUsageFinal, stream.isComplete, stream.hasContent], [false, false, false]);
    const end = messageDelta({ output_tokens: 4 }, null);
    assert.equal(pass([start, textDelta('a'), end]).stream.isUsageFinal, true);
    assert.equal(pass([start, textDelta('a'), end, textDelta('b')]).stream.isUsageFinal, false);
    assert.equal(pass([start, textDelta('a'), messageDelta()]).stream.isUsageFinal, false);
  });

  it('believes the last usage that can be true', () => {
    const { stream } = pass([
      messageStart({ input_tokens: 9, output_tokens: 1 }),
      messageDelta({ output_tokens: 3 }, null),
      messageDelta({ output_tokens: 4 }),
      messageDelta({ output_tokens: -1, input_tokens: 1e300 }),
      messageDelta({ output_tokens: '7' }),
    ]);
    assert.deepEqual(stream.usage, { promptTokens: 9, completionTokens: 4 });
  });

  for (const [title, piece, tokens, isReasoning] of [
    ['text', textDelta('hm'), 1, false],
    ['text that stands in the start of its block', blockStart({ type: 'text', text: 'hm' }), 1, false],
    ['thinking', blockDelta({ type: 'thinking_delta', thinking: 'hm' }), 1, true],
    ['a signature', blockDelta({ type: 'signature_delta', signature: 'abc' }), 0, true],
    ['thinking that is not shown', blockStart({ type: 'redacted_thinking', data: 'abc' }), 0, true],
    ['the call of a tool', blockStart({ type: 'tool_use', id: 't', name: 'f', input: {} }), 1, false],
    ['the input of a tool', blockDelta({ type: 'input_json_delta', partial_json: '{' }), 1, false],
    ['an input that comes whole', blockStart({ type: 'tool_use', input: [1] }), 3, false],
    ['a compaction', blockDelta({ type: 'compaction_delta', content: 'hm' }), 1, false],
  ] as const) {
    it(`counts ${title} as content`, async () => {
      const { stream } = pass([piece]);
      assert.deepEqual([stream.hasContent, stream.hasReasoning], [true, isReasoning]);
      assert.equal(await stream.countGenerated(countTokens), tokens);
    });
  }

  for (const [title, piece] of [
    ['the start of an empty block', blockStart({ type: 'text', text: '' })],
    ['the call of a tool without a name', blockStart({ type: 'tool_use', name: '', input: {} })],
    ['what a hosted tool found', blockStart({ type: 'web_search_tool_result', content: 'hm' })],
    [
      'a citation',
      blockDelta({ type: 'citations_delta', citation: { cited_text: 'hm', type: 'char_location' } }),
    ],
    ['a ping', PING],
  ] as const) {
    it(`does not count ${title} as content`, () => assert.equal(pass([piece]).stream.hasContent, false));
  }

  it('sees reasoning that is only in the usage', () => {
    const { stream } = pass([
      messageStart({ input_tokens: 9, output_tokens: 1 }),
      messageDelta({ output_tokens: 9, output_tokens_details: { thinking_tokens: 8 } }),
    ]);
    assert.equal(stream.hasReasoning, true);
  });

  it('counts the words of interleaved blocks apart', async () => {
    const { stream } = pass([
      textDelta('hel', 0),
      textDelta('wor', 1),
      textDelta('lo', 0),
      textDelta('ld', 1),
    ]);
    assert.equal(await stream.countGenerated(countTokens), 2);
  });

  it('is complete with the end mark, with a stop reason, and with an error', () => {
    assert.equal(pass(pieces.slice(0, -2)).stream.isComplete, false);
    assert.equal(pass(pieces.slice(0, -1)).stream.isComplete, true);
    assert.equal(pass([pieces[0] ?? '', MESSAGE_STOP]).stream.isComplete, true);
    assert.equal(pass([MESSAGE_STOP]).stream.isComplete, false);
    assert.equal(pass([messageDelta({ output_tokens: 1 }, null)]).stream.isComplete, false);
    assert.equal(pass([messageDelta({ output_tokens: 1 }, '')]).stream.isComplete, false);
  });

  it('tells that the provider aborted it', () => {
    const broken = pass([textDelta('a'), messageDelta({}, 'error'), MESSAGE_STOP]);
    const error = { type: 'api_error', message: 'the provider ended the answer with an error' };
    const told = `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`;
    assert.equal(broken.passed + broken.tail, textDelta('a') + messageDelta({}, 'error') + told);
    assert.equal(broken.stream.upstreamError, error.message);
  });

  it('passes an error as it came', () => {
    const failed = event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
    const { stream, passed } = pass([failed]);
    assert.deepEqual([stream.isComplete, stream.upstreamError, passed], [true, 'Overloaded', failed]);
    assert.equal(pass([event('error')]).stream.upstreamError, 'an error without a message');
  });

  it('goes by the name of an event whose data has no type', () => {
    const { stream, tail } = pass(['event:message_stop\ndata: {}\n\n']);
    assert.deepEqual([stream.isDone, tail], [true, 'event:message_stop\ndata: {}\n\n']);
    assert.equal(pass(['event: message_stop\ndata: {"type":"ping"}\n\n']).stream.isDone, false);
  });

  it('reads a last event that lacks its blank line, and drops what follows the end mark', () => {
    const { stream, tail } = pass([...pieces.slice(0, -1), MESSAGE_STOP.trimEnd()]);
    assert.deepEqual([stream.isDone, tail], [true, MESSAGE_STOP.trimEnd()]);
    const { passed, tail: mark } = pass([MESSAGE_STOP, textDelta('x'), MESSAGE_STOP]);
    assert.deepEqual([passed, mark], ['', MESSAGE_STOP]);
  });

  const secret = 'sk-ant-secret-0123456789';
  it('redacts the credential in any event, and in the input of a tool', () => {
    for (const write of [
      (text: string) => event('error', { error: { message: text } }),
      (text: string) => textDelta(text),
      (text: string) => blockDelta({ type: 'thinking_delta', thinking: text }),
      (text: string) => blockDelta({ type: 'input_json_delta', partial_json: text }),
      (text: string) => blockDelta({ type: 'signature_delta', signature: text }),
    ]) {
      const { passed, tail } = pass([write(`a ${secret} b`), PING, MESSAGE_STOP], { secret });
      assert.equal(passed, write('a [redacted] b') + PING);
      assert.equal(tail, MESSAGE_STOP);
    }
  });

  it('bounds an event by its size and by its values', () => {
    const stream = messages.openStream(OPTIONS);
    assert.throws(() => stream.push(Buffer.alloc(4 * 1024 * 1024 + 1, 'x')), EventTooLarge);
    const values = `data: {"type":"x","y":[${'1,'.repeat(1_000_001)}1]}\n\n`;
    assert.throws(() => messages.openStream(OPTIONS).push(Buffer.from(values)), EventTooLarge);
    const deep = `data: ${'['.repeat(70_000)}${']'.repeat(70_000)}\n\n`;
    assert.throws(() => messages.openStream(OPTIONS).push(Buffer.from(deep)), EventTooLarge);
  });
});
