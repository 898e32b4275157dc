import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seedsUpTo } from '@gatehouse/concurrency/testing';
import { randomFrom } from '../../journal/testing/random.ts';
import {
  begin,
  callChunk,
  chunk,
  createStreamTranslator,
  eventsIn,
  notesWith,
  streamOf,
  translatedStream,
} from './testing.fixture.ts';

describe('a translated stream', () => {
  const chatEvents = [
    begin,
    chunk({ reasoning_content: 'Hé' }),
    chunk({ content: 'a☕' }),
    callChunk(0, { id: 'a', function: { name: 'f', arguments: '{"x":"' } }),
    callChunk(1, { id: 'b', function: { name: 'g', arguments: '{}' } }),
    callChunk(0, { function: { arguments: '😀"}' } }),
    chunk({}, 'tool_calls'),
    { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
    '[DONE]',
  ];

  it('is the same wherever its packets are cut', () => {
    const whole = streamOf(chatEvents);
    const expected = translatedStream('chat', 'messages', chatEvents);
    const messages = createStreamTranslator('chat', 'messages', notesWith());
    const between = Buffer.concat([messages.push(whole), messages.end()]);
    const back = translatedStream('messages', 'chat', eventsIn(between));
    for (const seed of seedsUpTo(100)) {
      const random = randomFrom(seed);
      const there = createStreamTranslator('chat', 'messages', notesWith());
      const andBack = createStreamTranslator('messages', 'chat', notesWith());
      const [out, again]: Buffer[][] = [[], []];
      const pass = (bytes: Buffer) => {
        out?.push(bytes);
        again?.push(andBack.push(bytes));
      };
      for (let at = 0; at < whole.length; ) {
        const next = at + 1 + Math.floor(random() * (seed % 7 === 0 ? 1 : 60));
        pass(there.push(whole.subarray(at, next)));
        at = next;
      }
      pass(there.end());
      again?.push(andBack.end());
      assert.deepEqual(eventsIn(Buffer.concat(out ?? [])), expected, `seed ${seed}`);
      assert.deepEqual(eventsIn(Buffer.concat(again ?? [])), back, `seed ${seed}`);
      // Both keep the 18 characters that were generated, to count them, and nothing else.
      assert.equal(there.keptBytes + andBack.keptBytes, 2 * 2 * 18);
    }
  });

  it('says what was said, after a translation there and back', () => {
    const messages = createStreamTranslator('chat', 'messages', notesWith());
    const between = Buffer.concat([messages.push(streamOf(chatEvents)), messages.end()]);
    const texts = { content: '', reasoning: '', calls: new Map<number, string>() };
    for (const event of translatedStream('messages', 'chat', eventsIn(between))) {
      if (typeof event === 'string') continue;
      const [choice] = event['choices'] as { delta: Record<string, unknown> }[];
      texts.content += String(choice?.delta['content'] ?? '');
      texts.reasoning += String(choice?.delta['reasoning_content'] ?? '');
      for (const call of (choice?.delta['tool_calls'] ?? []) as {
        index: number;
        function: { arguments: string };
      }[]) {
        texts.calls.set(call.index, (texts.calls.get(call.index) ?? '') + call.function.arguments);
      }
    }
    assert.deepEqual(texts, {
      content: 'a☕',
      reasoning: 'Hé',
      calls: new Map([
        [0, '{"x":"😀"}'],
        [1, '{}'],
      ]),
    });
  });
});
