import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventTooLarge } from '../../wire/sse.ts';
import { translateRequest } from './index.ts';
import {
  callChunk,
  chunk,
  createStreamTranslator,
  eventsIn,
  notesWith,
  OPTIONS,
  streamOf,
} from './testing.fixture.ts';

const KEEP = ['reasoning_content', 'reasoning_details', 'extra_content', 'system_turns'];
const said = [{ role: 'user', content: 'Hi' }];

describe('the limits of a translation', () => {
  const many = 150_000;

  for (const [title, format, body] of [
    [
      'parts',
      'chat',
      {
        messages: [
          { role: 'tool', tool_call_id: 'a', content: '' },
          { role: 'user', content: Array.from({ length: many }, () => ({ type: 'text', text: 'x' })) },
        ],
      },
    ],
    [
      'blocks',
      'messages',
      { max_tokens: 9, messages: [{ role: 'user', content: Array(many).fill({ type: 'text', text: 'x' }) }] },
    ],
    [
      'parts of a response',
      'responses',
      {
        input: [
          { type: 'function_call_output', call_id: 'a', output: '' },
          { role: 'user', content: Array(many).fill({ type: 'input_text', text: 'x' }) },
        ],
      },
    ],
    ['turns', 'messages', { max_tokens: 9, messages: Array(many).fill({ role: 'system', content: 'x' }) }],
    [
      'names that are dropped',
      'chat',
      { messages: said, ...Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`x${i}`, 1])) },
    ],
  ] as const) {
    it(`are not reached by ${title} without number`, () => {
      const to = format === 'chat' ? 'messages' : 'chat';
      for (const keep of [[], KEEP]) {
        const { dropped } = translateRequest(format, to, { model: 'm', ...body }, { ...OPTIONS, keep });
        assert.ok(dropped.length <= 33);
        assert.ok(dropped.join(', ').length < 4_096);
      }
    });
  }

  it('are 256 characters for a namespace, whose name goes with each tool in it', () => {
    const translated = (length: number, count: number) => {
      const tools = Array.from({ length: count }, (_, index) => ({ type: 'function', name: `tool${index}` }));
      const namespace = { type: 'namespace', name: 'n'.repeat(length), tools };
      const body = { model: 'm', input: said, tools: [namespace] };
      const { body: written, notes } = translateRequest('responses', 'chat', body, OPTIONS);
      return { sent: JSON.stringify(written).length, noted: JSON.stringify(notes).length };
    };
    const { sent, noted } = translated(256, 1_000);
    assert.ok(sent < 200_000 && noted < 500_000, `${sent} and ${noted} characters`);
    assert.throws(() => translated(257, 1), /A namespace must have at most 256 characters/);
  });

  it('end a stream with an error where a provider sends more calls than are read', () => {
    const chunks = Array.from({ length: 2_000 }, (_, index) =>
      callChunk(index, { id: `c${index}`, function: { name: 'f' } }),
    );
    const translator = createStreamTranslator('chat', 'messages', notesWith());
    const events = eventsIn(translator.push(streamOf(chunks)));
    assert.match(JSON.stringify(events.at(-1)), /"type":"error".*more tool calls than are read/);
    assert.equal(translator.end().length, 0);
  });

  it('end a stream with an error where a provider opens more blocks than are read', () => {
    const starts = Array.from({ length: 2_000 }, (_, index) => ({
      type: 'content_block_start',
      index,
      content_block: { type: 'text', text: 'x' },
    }));
    const events = eventsIn(createStreamTranslator('messages', 'chat', notesWith()).push(streamOf(starts)));
    assert.match(JSON.stringify(events.at(-1)), /more content blocks than are read/);
  });

  it('end a stream with an error where what is kept for later blocks is too much, and keep no more', () => {
    const translator = createStreamTranslator('chat', 'messages', notesWith());
    const text = 'x'.repeat(1024 * 1024);
    translator.push(streamOf([callChunk(0, { id: 'a', function: { name: 'f', arguments: '{' } })]));
    translator.push(streamOf([callChunk(1, { id: 'b', function: { name: 'g', arguments: '{"x":"' } })]));
    let last = '';
    for (let count = 0; count < 10; count += 1) {
      last += translator.push(streamOf([callChunk(1, { function: { arguments: text } })])).toString();
      assert.ok(translator.keptBytes < 12 * 1024 * 1024);
    }
    assert.match(last, /event: error\n.*more at once than can be put in order/);
    assert.equal(translator.end().length, 0);
  });

  it('hold no more of a custom tool than its largest input', () => {
    const translator = createStreamTranslator('chat', 'chat', notesWith({ customTools: ['f'] }));
    const text = 'x'.repeat(1024 * 1024);
    translator.push(streamOf([callChunk(0, { id: 'a', function: { name: 'f', arguments: '{"input":"' } })]));
    let last = '';
    for (let count = 0; count < 6; count += 1) {
      last += translator.push(streamOf([callChunk(0, { function: { arguments: text } })])).toString();
    }
    assert.match(last, /more arguments of a tool than are read/);
  });

  it('do not let a seal grow without end', () => {
    const translator = createStreamTranslator('chat', 'messages', notesWith());
    const text = 'x'.repeat(100 * 1024);
    for (let count = 0; count < 20; count += 1) {
      translator.push(
        streamOf([chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: text, index: 0 }] })]),
      );
      assert.ok(translator.keptBytes < 2 * 1024 * 1024);
    }
    const out = translator.push(streamOf([chunk({ content: 'x' })])).toString();
    assert.ok(!out.includes('redacted_thinking'));
  });

  it('are those of every stream: an event of 64 MB is too large', () => {
    const translator = createStreamTranslator('chat', 'messages', notesWith());
    const piece = Buffer.alloc(1024 * 1024, 0x61);
    assert.throws(() => {
      for (let count = 0; count < 64; count += 1) translator.push(piece);
    }, EventTooLarge);
  });
});
