import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seedsUpTo } from '@gatehouse/concurrency/testing';
import { randomFrom } from '../../journal/testing/random.ts';
import type { JsonObject } from '../../wire/json.ts';
import { translateAnswer, translateRequest } from './index.ts';
import { notesWith, OPTIONS } from './testing.fixture.ts';

// What chat and messages both can say is the same again after a translation there and back. The requests are random, in
// the form in which a translator writes them: one text is a string, results of tools come before other parts.

const RUNS = 400;
const KEEP = { ...OPTIONS, keep: ['system_turns'] };

class Dice {
  readonly #random: () => number;
  #ids = 0;
  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }
  chance(probability: number): boolean {
    return this.#random() < probability;
  }
  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
  times<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
  maybe<T extends object>(members: () => T): T | object {
    return this.chance(0.5) ? members() : {};
  }
  id(): string {
    this.#ids += 1;
    return `call_${this.#ids}`;
  }
  text(): string {
    return this.pick(['Salam', 'é☕ "quoted"\n', ' spaces ', '{"a":1}', '\u0000\ud83d', 'x'.repeat(300)]);
  }
  json(depth = 3): unknown {
    if (depth === 0 || this.chance(0.4)) return this.pick([null, true, 0, -1.5, 1e21, '', this.text()]);
    if (this.chance(0.5)) return this.times(3, () => this.json(depth - 1));
    return this.object(depth);
  }
  object(depth = 3, names = ['a', 'b', '__proto__', 'é']): JsonObject {
    return Object.fromEntries(this.times(3, () => [this.pick(names), this.json(depth - 1)]));
  }
}

function chatParts(dice: Dice): string | JsonObject[] {
  if (dice.chance(0.6)) return dice.text();
  const part = () =>
    dice.pick([
      { type: 'text', text: dice.text() },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
    ]);
  return [part(), { type: 'image_url', image_url: { url: 'https://example.com/b.png' } }, part()];
}

function chatTurns(dice: Dice): JsonObject[] {
  return dice
    .times(4, () => {
      const calls = dice.times(3, () => ({
        id: dice.id(),
        type: 'function',
        function: { name: dice.pick(['weather', 'time']), arguments: JSON.stringify(dice.object()) },
      }));
      const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: dice.text() }));
      const hasText = calls.length === 0 || dice.chance(0.5);
      return [
        { role: 'user', content: chatParts(dice) },
        ...(dice.chance(0.2) ? [{ role: 'system', content: dice.text() }] : []),
        {
          role: 'assistant',
          content: hasText ? dice.text() : null,
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        ...results,
      ];
    })
    .flat();
}

function chatRequest(dice: Dice): JsonObject {
  const tools = ['weather', 'time'].map((name) => {
    // Other names of arguments are not sent as they are.
    const given = Object.entries(dice.object(3, ['a', 'b', '__proto__']));
    const properties = Object.fromEntries(given.map(([argument, value]) => [argument, { default: value }]));
    const parameters = { type: 'object', properties };
    return { type: 'function', function: { name, description: dice.text(), parameters } };
  });
  const samples = dice.pick([{}, { temperature: dice.pick([0, 0.5, 1]) }, { top_p: 0.5 }]);
  const strict = { type: 'object', properties: {}, required: [], additionalProperties: false };
  return {
    model: dice.text(),
    messages: [
      ...(dice.chance(0.5) ? [{ role: 'system', content: dice.text() }] : []),
      ...chatTurns(dice),
      { role: 'user', content: chatParts(dice) },
    ],
    tools,
    ...dice.maybe(() => ({
      tool_choice: dice.pick(['auto', 'none', 'required', { type: 'function', function: { name: 'time' } }]),
    })),
    ...dice.maybe(() => ({ max_completion_tokens: 1 + dice.below(1e6) })),
    ...dice.maybe(() => ({ stop: ['END', 'STOP'] })),
    ...samples,
    ...dice.maybe(() => ({
      response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: strict } },
    })),
    ...dice.maybe(() => ({ user: 'u-1' })),
    ...dice.maybe(() => ({ service_tier: dice.pick(['auto', 'default']) })),
    ...dice.maybe(() => ({ stream: true })),
  };
}

const seeds = seedsUpTo(RUNS);

describe('a round trip', () => {
  it('from chat through messages changes no request', () => {
    for (const seed of seeds) {
      const request = chatRequest(new Dice(seed));
      const there = translateRequest('chat', 'messages', request, KEEP);
      const back = translateRequest('messages', 'chat', there.body, KEEP);
      assert.deepEqual([...there.dropped, ...back.dropped], [], `seed ${seed}`);
      assert.deepEqual(back.body, request, `seed ${seed}`);
    }
  });

  it('from messages through chat changes no request', () => {
    for (const seed of seeds) {
      const { body: request } = translateRequest('chat', 'messages', chatRequest(new Dice(seed)), KEEP);
      const there = translateRequest('messages', 'chat', request, KEEP);
      const back = translateRequest('chat', 'messages', there.body, KEEP);
      assert.deepEqual([...there.dropped, ...back.dropped], [], `seed ${seed}`);
      assert.deepEqual(back.body, request, `seed ${seed}`);
    }
  });

  it('keeps every effort that both have, and reasoning off', () => {
    for (const effort of ['none', 'low', 'medium', 'high', 'xhigh']) {
      const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], reasoning_effort: effort };
      const there = translateRequest('chat', 'messages', request, OPTIONS);
      assert.deepEqual(translateRequest('messages', 'chat', there.body, OPTIONS).body, request);
    }
  });

  it('changes no answer', () => {
    for (const seed of seeds) {
      const dice = new Dice(seed);
      const calls = dice.times(3, () => ({
        type: 'tool_use',
        id: dice.id(),
        name: 'f',
        input: dice.object(),
      }));
      const answer = {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'up',
        content: [
          ...dice.times(1, () => ({ type: 'thinking', thinking: dice.text(), signature: '' })),
          ...dice.times(1, () => ({ type: 'text', text: dice.text() })),
          ...calls,
        ],
        stop_reason: calls.length > 0 ? 'tool_use' : dice.pick(['end_turn', 'max_tokens', 'refusal']),
        stop_sequence: null,
        usage: {
          input_tokens: dice.below(1000),
          cache_creation_input_tokens: dice.below(1000),
          cache_read_input_tokens: dice.below(1000),
          output_tokens: dice.below(1000),
        },
      };
      const chat = translateAnswer('messages', 'chat', answer, notesWith()) ?? assert.fail();
      assert.deepEqual(translateAnswer('chat', 'messages', chat, notesWith()), answer, `seed ${seed}`);
    }
  });
});
