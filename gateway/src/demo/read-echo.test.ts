import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Surface } from '@gatehouse/contract';
import { countTokens } from '../tokens/count-tokens.ts';
import { LARGE_ECHO, SMALL_ECHO } from './echo-bounds.ts';
import { type Answers, readEcho } from './read-echo.ts';

const CAP = 4_096;
const LONG = { type: 'array', minItems: 9_000, items: { const: 'x'.repeat(3_000) } };

const read = (surface: Surface, body: object, bounds = LARGE_ECHO) =>
  readEcho(surface, Buffer.from(JSON.stringify(body)), countTokens, bounds);
const chat = (schema: object | undefined, members: object = {}) => ({
  messages: [{ role: 'user', content: 'Hi' }],
  max_completion_tokens: CAP,
  ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 's', schema } } }),
  ...members,
});
const forced = (schema: object, members: object = {}) => ({
  ...chat(undefined, members),
  tools: [{ type: 'function', function: { name: 'look', parameters: schema } }],
  tool_choice: 'required',
});
const answersTo = async (surface: Surface, body: object) => {
  const { result } = (await read(surface, body)) ?? assert.fail();
  assert.ok(result.kind === 'answers', JSON.stringify(result));
  return result;
};
const charactersOf = ({ answers }: Answers) =>
  answers.reduce((sum, { parts }) => sum + parts.reduce((all, { text }) => all + text.length, 0), 0);

describe('an answer that would be longer than its cap', () => {
  for (const [title, body, start] of [
    ['a schema', chat(LONG), /^\["x+"/],
    ['the input of a tool', forced(LONG), /^\["x+"/],
    [
      'a text without a space',
      chat(undefined, { messages: [{ role: 'user', content: 'x'.repeat(50_000) }] }),
      /^x+$/,
    ],
  ] as const) {
    it(`is cut there, with as many tokens as the cap: ${title}`, async () => {
      const { answers, completionTokens } = await answersTo('chat', body);
      assert.deepEqual([answers.length, answers[0]?.finish, completionTokens], [1, 'length', CAP]);
      const [part] = answers[0]?.parts ?? [];
      assert.ok(part && part.text.length < 128 * CAP);
      assert.match(part.text, start);
    });
  }

  it('is cut at a number of characters, for all choices together', async () => {
    const uncapped = { max_completion_tokens: 10_000_000 };
    for (const n of [1, 3, 128]) {
      const result = await answersTo('chat', chat(LONG, { n, ...uncapped }));
      assert.deepEqual(
        result.answers.map(({ finish }) => finish),
        Array(n).fill('length'),
      );
      const characters = charactersOf(result);
      assert.ok(characters > 0 && characters <= LARGE_ECHO.characters, `${characters} characters`);
    }
    const prompts = Array.from({ length: 64 }, (_, at) => `${at} ${'word '.repeat(500)}`);
    const result = await answersTo('completions', { prompt: prompts, n: 32, max_tokens: 1_000 });
    assert.equal(result.answers.length, 64 * 32);
    assert.ok(charactersOf(result) <= LARGE_ECHO.characters);
    assert.deepEqual([result.answers.at(0)?.finish, result.answers.at(-1)?.finish], ['stop', 'length']);
    const name = 'n'.repeat(60_000);
    const named = {
      ...forced({}, { n: 128, ...uncapped }),
      tools: [{ type: 'function', function: { name } }],
    };
    assert.deepEqual((await answersTo('chat', named)).answers[0], { parts: [], finish: 'length', tokens: 0 });
  });
});

describe('what the echo refuses, as a provider would', () => {
  for (const [title, surface, body, message] of [
    [
      'more choices than a completion may have prompts',
      'completions',
      { prompt: Array(2_048).fill('a'), n: 2 },
      /at most 2048 choices/,
    ],
    [
      'more numbers than are given at once',
      'embeddings',
      { input: Array(2_048).fill('a'), dimensions: 4_096 },
      /is 8388608 numbers, and 524288 are given at once/,
    ],
    [
      'longer inputs than its context',
      'embeddings',
      { input: Array(4).fill('word '.repeat(200_001)) },
      /at most 4000000 characters/,
    ],
  ] as const) {
    it(title, async () => {
      const reading = await read(surface, body);
      assert.ok(reading?.result.kind === 'unusable');
      assert.match(reading.result.message, message);
      assert.equal(reading.vectors, undefined);
    });
  }

  it('nothing of as many inputs as there may be, with the usual dimensions', async () => {
    const reading = await read('embeddings', { input: Array(2_048).fill('a') });
    assert.deepEqual([reading?.result.kind, reading?.vectors?.length], ['vectors', LARGE_ECHO.numbers]);
  });
});

describe('the echo on the main thread', () => {
  it('answers what is little work', async () => {
    const small = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    for (const [surface, body] of [
      ['chat', chat(undefined)],
      ['chat', chat(small, { n: 64 })],
      ['chat', forced(small)],
      ['completions', { prompt: Array(64).fill('a'), n: 8, max_tokens: 16 }],
      ['embeddings', { input: Array(16).fill('a'), dimensions: 256 }],
      // A low cap ends it before it is much.
      ['chat', chat(LONG, { max_completion_tokens: 16 })],
    ] as const) {
      assert.deepEqual(await read(surface, body, SMALL_ECHO), await read(surface, body));
    }
  });

  it('leaves to a thread what is more, however small the body is', async () => {
    const self = { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] };
    const wide = {
      allOf: Array(40).fill({ $ref: '#/$defs/w' }),
      $defs: { w: { required: [...'abcdefghijklmnop'] } },
    };
    for (const [surface, body] of [
      ['chat', chat(LONG)],
      ['chat', chat({ type: 'string', minLength: 1e9 })],
      ['chat', chat({ ...self, allOf: Array(600).fill(self) })],
      ['chat', chat(wide, { n: 100 })],
      ['chat', forced(LONG)],
      ['chat', chat(undefined, { messages: [{ role: 'user', content: 'a '.repeat(50) }], n: 64 })],
      ['completions', { prompt: 'a '.repeat(1_000), n: 64, max_tokens: 1_000 }],
      ['embeddings', { input: Array(1_000).fill('a') }],
      ['embeddings', { input: ['a', 'b'], dimensions: 4_096 }],
    ] as const) {
      const label = JSON.stringify(body).slice(0, 200);
      assert.equal(await read(surface, body, SMALL_ECHO), undefined, label);
      assert.ok(await read(surface, body), label);
    }
  });
});
