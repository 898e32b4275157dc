import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REQUEST_RULES, writtenUser } from '../peculiarities/request-rules.ts';
import { argumentsSchema, closedSchema, isStrictSchema } from './bounded-schema.ts';
import type { Turn } from './conversation.ts';
import { Losses } from './losses.ts';
import { resultsFirst } from './turns.ts';

// What providers demand of a request, by the rule.

describe('the schema of a function’s arguments', () => {
  for (const [given, written] of [
    [undefined, { type: 'object', properties: {} }],
    [{}, { type: 'object', properties: {} }],
    [{ type: 'object' }, { type: 'object', properties: {} }],
    [{ properties: { a: {} } }, { properties: { a: {} }, type: 'object' }],
    [
      { type: 'object', properties: { a: { type: 'object' } } },
      { type: 'object', properties: { a: { type: 'object' } } },
    ],
    [{ type: 'array' }, { type: 'array', items: {} }],
    [
      { type: 'object', properties: { items: { anyOf: [{ type: ['array', 'null'] }] }, type: {} } },
      {
        type: 'object',
        properties: { items: { anyOf: [{ type: ['array', 'null'], items: {} }] }, type: {} },
      },
    ],
    [
      { type: 'object', properties: { a: { type: 'array', items: [{ type: 'array' }] } } },
      {
        type: 'object',
        properties: { a: { type: 'array', items: {}, prefixItems: [{ type: 'array', items: {} }] } },
      },
    ],
    [
      { type: 'object', properties: { a: { minimum: 1, exclusiveMinimum: true, exclusiveMaximum: false } } },
      { type: 'object', properties: { a: { exclusiveMinimum: 1 } } },
    ],
    [
      {
        type: 'object',
        properties: {
          mail: { pattern: '^(?!\\.)a', description: 'To whom.' },
          list: { items: { pattern: '(?<=a)b' } },
          plain: { pattern: String.raw`^\(?!a(?<name>b)` },
          pattern: { additionalProperties: {}, propertyNames: { pattern: '(?!a)' } },
          type: 'object',
        },
      },
      {
        type: 'object',
        properties: {
          mail: { description: String.raw`To whom. (pattern: "^(?!\\.)a")` },
          list: { items: { description: '(pattern: "(?<=a)b")' } },
          plain: { pattern: String.raw`^\(?!a(?<name>b)` },
          pattern: { additionalProperties: true, propertyNames: { description: '(pattern: "(?!a)")' } },
        },
      },
    ],
    [
      { type: 'object', properties: { a: { required: true } }, required: ['a'] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
    ],
    [
      {
        oneOf: [{ properties: { a: {} }, required: ['a'] }, { properties: { b: {} } }],
        properties: { b: true },
      },
      { type: 'object', properties: { a: {}, b: true } },
    ],
    [
      {
        allOf: [
          { properties: { a: {} }, required: ['a'] },
          { properties: { b: {} }, required: ['a', 'b'] },
        ],
        properties: { c: {} },
        required: ['c'],
      },
      { type: 'object', properties: { a: {}, b: {}, c: {} }, required: ['c', 'a', 'b'] },
    ],
  ] as const) {
    it(`is ${JSON.stringify(written)} for ${JSON.stringify(given)}`, () =>
      assert.deepEqual(argumentsSchema(given), written));
  }
});

describe('a schema for structured output of Anthropic', () => {
  it('has closed objects, and its bounds in words, wherever they stand', () => {
    const { schema, isLoosened } = closedSchema({
      type: 'object',
      properties: {
        age: { type: 'integer', minimum: 0, maximum: 150, description: 'In years.' },
        // A property may be called like a bound.
        maximum: { anyOf: [{ type: 'string', maxLength: 5 }, { $ref: '#/$defs/list' }] },
      },
      $defs: { list: { type: 'array', minItems: 3, items: { type: 'object', properties: {} } } },
    });
    assert.equal(isLoosened, true);
    assert.deepEqual(schema, {
      type: 'object',
      properties: {
        age: { type: 'integer', description: 'In years. (minimum: 0, maximum: 150)' },
        maximum: { anyOf: [{ type: 'string', description: '(maxLength: 5)' }, { $ref: '#/$defs/list' }] },
      },
      $defs: {
        list: {
          type: 'array',
          minItems: 1,
          items: { type: 'object', properties: {}, additionalProperties: false },
          description: '(minItems: 3)',
        },
      },
      additionalProperties: false,
    });
  });

  it('has none of the conditions and formats that Anthropic refuses', () => {
    const { schema, isLoosened } = closedSchema({
      oneOf: [
        { type: 'string', format: 'date' },
        { type: 'integer', format: 'int32' },
        { type: 'string', pattern: '^(?=a)' },
        { type: 'string', pattern: '^a' },
      ],
      not: { const: 7 },
    });
    assert.equal(isLoosened, true);
    assert.deepEqual(schema, {
      anyOf: [
        { type: 'string', format: 'date' },
        { type: 'integer', description: '(format: "int32")' },
        { type: 'string', description: '(pattern: "^(?=a)")' },
        { type: 'string', pattern: '^a' },
      ],
      description: '(not: {"const":7})',
    });
  });

  it('is not loosened by what no caller meant', () => {
    const open = { type: 'object', properties: { a: { type: 'string' } } };
    assert.equal(closedSchema(open).isLoosened, false);
    assert.equal(closedSchema({ ...open, additionalProperties: true }).isLoosened, true);
  });

  it('ends at a depth of 128, however deep it is', () => {
    let deep: object = { type: 'object' };
    for (let depth = 0; depth < 5_000; depth += 1) deep = { type: 'array', items: deep };
    assert.equal(closedSchema({ ...deep }).isLoosened, false);
  });
});

describe('a strict schema of OpenAI', () => {
  const closed = (properties: object) => ({
    ...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  });
  for (const [title, schema, isStrict] of [
    ['closed objects', closed({ a: closed({ b: { anyOf: [{ type: 'string' }, { type: 'null' }] } }) }), true],
    ['properties that are called like keywords', closed({ not: {}, oneOf: {} }), true],
    ['a keyword that is refused', closed({ a: { oneOf: [{ type: 'string' }] } }), false],
    ['a format that is refused', closed({ a: { type: 'string', format: 'uri' } }), false],
    ['a format that nobody knows', closed({ a: { type: 'string', format: 'int32' } }), false],
    ['a format that is taken', closed({ format: { type: 'string', format: 'email' } }), true],
    ['a value by default', closed({ a: { type: 'string', default: 'x' } }), false],
    ['the same within a definition', { ...closed({}), $defs: { a: { allOf: [] } } }, false],
    ['a definition that is referred to', { ...closed({ a: { $ref: '#/$defs/a' } }), $defs: { a: {} } }, true],
    ['words beside a reference', closed({ a: { $ref: '#/$defs/a', description: 'It.' } }), false],
    ['an open object without properties', closed({ a: { type: ['object', 'null'] } }), false],
    ['members of any name', closed({ a: { type: 'object', additionalProperties: {} } }), false],
    ['a list of anything', closed({ a: { type: 'array' } }), false],
    ['a choice at the root', { ...closed({ a: {} }), anyOf: [{ required: ['a'] }] }, false],
    ['optional members', { ...closed({ a: {} }), required: [] }, false],
  ] as const) {
    it(`${isStrict ? 'has' : 'has no'} ${title}`, () => assert.equal(isStrictSchema(schema), isStrict));
  }
});

describe('the end user’s id', () => {
  for (const [id, rule, isSent] of [
    ['u'.repeat(64), REQUEST_RULES.chat, true],
    ['u'.repeat(65), REQUEST_RULES.chat, false],
    ['person@example.com', REQUEST_RULES.chat, true],
    ['u'.repeat(256), REQUEST_RULES.messages, true],
    ['u'.repeat(257), REQUEST_RULES.messages, false],
    ['person@example.com', REQUEST_RULES.messages, false],
    ['+92 300 1234567', REQUEST_RULES.messages, false],
    ['(042) 111-222', REQUEST_RULES.messages, false],
    ['3f2a-11ee-be56', REQUEST_RULES.messages, true],
    ['1234', REQUEST_RULES.messages, true],
  ] as const) {
    it(`${isSent ? 'is sent' : 'is left out, by name'}: ${id.slice(0, 20)} of ${id.length}`, () => {
      const losses = new Losses('chat', 'messages');
      assert.equal(writtenUser(id, rule, losses), isSent ? id : undefined);
      assert.deepEqual(losses.dropped, isSent ? [] : ['user']);
    });
  }
});

describe('the results of calls', () => {
  const text = (value: string) => ({ type: 'text', text: value }) as const;
  const calls = (...ids: string[]): Turn => ({
    role: 'assistant',
    parts: ids.map((id) => ({ type: 'toolCall', id, kind: 'function', name: 'f', arguments: '{}' })),
  });
  const said = (value: string): Turn => ({ role: 'user', parts: [text(value)] });
  const result = (callId: string, value: string): Turn => ({
    role: 'user',
    parts: [{ type: 'toolResult', callId, parts: [text(value)] }],
  });
  const both = (...turns: Turn[]): Turn => ({
    role: 'user',
    parts: turns.flatMap((turn) => (turn.role === 'user' ? turn.parts : [])),
  });

  for (const [title, turns, ordered] of [
    [
      'come before what a person said between',
      [calls('a'), said('Wait.'), result('a', '1')],
      [calls('a'), result('a', '1'), said('Wait.')],
    ],
    [
      'of one turn come together',
      [calls('a', 'b'), result('b', '2'), said('And?'), result('a', '1')],
      [calls('a', 'b'), both(result('a', '1'), result('b', '2')), said('And?')],
    ],
    [
      'after the next calls go back to theirs',
      [calls('a'), calls('b'), result('b', '2'), result('a', '1')],
      [calls('a'), result('a', '1'), calls('b'), result('b', '2')],
    ],
    [
      'of no call are told by the user',
      [said('Hi'), both(result('x', '1'), said('Go on'))],
      [said('Hi'), both(said('Returned by the tool call x:'), said('1'), said('Go on'))],
    ],
    [
      'that never came are told to be missing',
      [calls('a', 'b'), both(result('b', '2'), said('Stop'))],
      [calls('a', 'b'), both(result('a', 'There is no result.'), result('b', '2'), said('Stop'))],
    ],
    ['of the last turn are too', [calls('a')], [calls('a'), result('a', 'There is no result.')]],
  ] as const) {
    it(title, () => assert.deepEqual(resultsFirst(turns), ordered));
  }

  it('that are told twice are one', () => {
    const [, turn] = resultsFirst([calls('a'), result('a', '1'), result('a', '2')]);
    assert.deepEqual(turn, {
      role: 'user',
      parts: [{ type: 'toolResult', callId: 'a', parts: [text('1'), text('2')] }],
    });
  });
});
