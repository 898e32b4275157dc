import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LARGE_ECHO, SMALL_ECHO } from './echo-bounds.ts';
import { smallestJson } from './smallest-json.ts';

const ofSchema = (schema: unknown) => smallestJson(schema, LARGE_ECHO);
const smallest = (schema: unknown) => JSON.parse(ofSchema(schema).text) as unknown;

const object = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
/** A look at a part asks for some ten words of a schema, and follows a reference of some names. */
const READS_PER_STEP = 20;
const LONG = { type: 'string', minLength: 50 };
const NODE = object({ next: { $ref: '#/$defs/node' } });
const OPERATION = object({ left: { $ref: '#/$defs/term' }, right: { $ref: '#/$defs/term' } });
const $defs = { term: { anyOf: [{ $ref: '#/$defs/operation' }, LONG] }, operation: OPERATION };

describe('the smallest value of a schema', () => {
  for (const [schema, expected] of [
    [{ type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] }, { a: '' }],
    [
      { properties: { a: { type: 'null' } }, required: ['a', 'missing'] },
      { a: null, missing: null },
    ],
    [{ type: 'object', required: ['__proto__', 7] }, JSON.parse('{"__proto__":null}')],
    [{ type: 'object', required: ['a', 'a'] }, { a: null }],
    [{ type: 'object' }, {}],
    [{ type: 'array', items: { type: 'number' }, minItems: 2 }, [0, 0]],
    [{ type: 'array', items: { type: 'boolean' }, minItems: 1_200 }, Array(1_200).fill(false)],
    [{ items: { type: 'number' } }, []],
    [{ enum: ['longer', 'long'] }, 'long'],
    [{ const: { x: [1] } }, { x: [1] }],
    [{ type: ['string', 'null'] }, null],
    [{ type: ['integer', 'string'] }, 0],
    [{ type: 'string', minLength: 3 }, 'xxx'],
    [{ type: 'string', minLength: 3_000 }, 'x'.repeat(3_000)],
    [{ type: 'string', format: 'date' }, '1970-01-01'],
    [{ type: 'string', format: 'date', minLength: 12 }, '1970-01-01xx'],
    [{ type: 'integer', minimum: 2.5 }, 3],
    [{ type: 'integer', exclusiveMinimum: 2 }, 3],
    [{ type: 'integer', maximum: -2 }, -2],
    [{ type: 'integer', minimum: 1, multipleOf: 5 }, 5],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    [{ anyOf: [{ type: 'object', properties: {}, required: [] }, { type: 'integer' }] }, 0],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, null],
    [{ allOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: null, b: null }],
    [
      { allOf: [object({ a: { type: 'integer' } })], ...object({ b: { type: 'string' } }) },
      { a: 0, b: '' },
    ],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'boolean' } } }, false],
    [{ $ref: '#' }, null],
    [{ $ref: 'https://example.com/schema' }, null],
    [true, null],
    [undefined, null],
  ] as const) {
    it(`is ${JSON.stringify(expected).slice(0, 60)} for ${JSON.stringify(schema)}`, () => {
      assert.deepEqual(smallest(schema), expected);
    });
  }

  it('contains itself no longer than there is another value that fits', () => {
    const long = 'x'.repeat(50);
    const operation = { left: long, right: long };
    assert.deepEqual(smallest({ $ref: '#/$defs/term', $defs }), long);
    assert.deepEqual(smallest({ $ref: '#/$defs/operation', $defs }), operation);
    // What was looked at within itself is looked at again.
    const both = { ...object({ a: { $ref: '#/$defs/term' }, b: { $ref: '#/$defs/operation' } }), $defs };
    assert.deepEqual(smallest(both), { a: long, b: operation });
    assert.deepEqual(smallest({ ...NODE, $defs: { node: NODE } }), { next: { next: null } });
  });

  it('is complete for a large schema with much in common', () => {
    const line = object(
      Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`p${n}`, { type: 'string' }])),
    );
    const lines = { type: 'array', minItems: 100, items: { $ref: '#/$defs/line' } };
    const { text, isExhausted } = ofSchema({ ...object({ a: lines, b: lines }), $defs: { line } });
    const value = JSON.parse(text) as Record<string, Record<string, string>[]>;
    assert.deepEqual([value['a']?.length, value['b']?.[99]?.['p29'], isExhausted], [100, '', false]);
  });
});

describe('a schema that stands for far more than it says', () => {
  /** Each needs the next one twice: 2^64 values. */
  const doubling = () => {
    const defs: Record<string, object> = { d64: { const: 'end' } };
    for (let level = 0; level < 64; level += 1) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      defs[`d${level}`] = object({ a: next, b: next });
    }
    return { $ref: '#/$defs/d0', $defs: defs };
  };
  const lists = (levels: number, inner: object): object =>
    levels === 0 ? inner : { type: 'array', minItems: 1e9, items: lists(levels - 1, inner) };
  const nestedOptions = () => {
    let schema: object = { type: 'array', minItems: 1_000, items: { const: 'x'.repeat(3_000) } };
    for (let level = 0; level < 12; level += 1)
      schema = { anyOf: [{ type: 'array', minItems: 9, items: schema }] };
    return schema;
  };
  const itself = object({ a: { $ref: '#' }, b: { $ref: '#' }, c: { anyOf: [{ $ref: '#' }, { $ref: '#' }] } });
  const mutual = {
    $ref: '#/$defs/a',
    $defs: {
      a: { anyOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/c' }, object({ x: { $ref: '#/$defs/b' } })] },
      b: { anyOf: [{ $ref: '#/$defs/c' }, { $ref: '#/$defs/a' }, object({ x: { $ref: '#/$defs/c' } })] },
      c: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }, object({ x: { $ref: '#/$defs/a' } })] },
    },
  };
  const chain = (length: number, link: (next: object) => object) => {
    const defs: Record<string, object> = { [`d${length}`]: { type: 'integer' } };
    for (let at = 0; at < length; at += 1) defs[`d${at}`] = link({ $ref: `#/$defs/d${at + 1}` });
    return { $ref: '#/$defs/d0', $defs: defs };
  };
  /** Built from its end, a chain is deeper than any look at it. */
  const deepFromTheEnd = () => {
    const { $defs: defs } = chain(5_000, (next) => object({ next }));
    const required = Array.from({ length: 50 }, (_, at) => `d${5_000 - 100 * (at + 1)}`);
    const properties = Object.fromEntries(required.map((name) => [name, { $ref: `#/$defs/${name}` }]));
    return { type: 'object', required, properties, $defs: defs };
  };
  const names = Array.from({ length: 5_000 }, (_, at) => `name${at}`);
  const wide = { type: 'object', required: names };

  for (const [title, schema] of Object.entries({
    'definitions that double': doubling(),
    'lists within lists': lists(20, { const: 'long'.repeat(1_000) }),
    'options around lists': nestedOptions(),
    'a schema that needs itself three times': itself,
    'definitions that need each other': mutual,
    'a chain of 10,000 references': chain(10_000, (next) => next),
    'a chain of 10,000 lists': chain(10_000, (items) => ({ type: 'array', minItems: 2, items })),
    'a chain that is built from its end': deepFromTheEnd(),
    'a product of allOf': {
      allOf: Array.from({ length: 2_000 }, () => ({ $ref: '#/$defs/wide' })),
      $defs: { wide },
    },
    'wide objects that need each other': {
      allOf: Array.from({ length: 200 }, () => ({ $ref: '#/$defs/self' })),
      $defs: { self: { ...wide, properties: { name0: { $ref: '#/$defs/self' } } } },
    },
    'required members without a name, of an object that needs itself': {
      anyOf: Array.from({ length: 500 }, () => ({ $ref: '#/$defs/self' })),
      $defs: {
        self: {
          type: 'object',
          required: [...Array(2_000).fill(0), 'a'],
          properties: { a: { $ref: '#/$defs/self' } },
        },
      },
    },
    'many types of an object that needs itself': {
      anyOf: Array.from({ length: 500 }, () => ({ $ref: '#/$defs/self' })),
      $defs: {
        self: {
          type: Array(2_000).fill('object'),
          required: ['a'],
          properties: { a: { $ref: '#/$defs/self' } },
        },
      },
    },
    'required members that are lists': {
      ...wide,
      properties: Object.fromEntries(names.map((name) => [name, lists(2, { enum: [LONG, LONG] })])),
    },
    'long texts': { type: 'array', minItems: 1e9, items: { type: 'string', minLength: 1e15 } },
    'a long enum': { type: 'array', minItems: 1e9, items: { enum: names } },
    'references that are long': {
      anyOf: Array.from({ length: 200 }, () => ({ $ref: `#${'/a'.repeat(20_000)}` })),
    },
  })) {
    it(`has a text and steps within the bounds: ${title}`, () => {
      const json = JSON.stringify(schema);
      for (const bounds of [SMALL_ECHO, LARGE_ECHO]) {
        let reads = 0;
        const { text } = smallestJson(
          counting(JSON.parse(json), () => (reads += 1)),
          bounds,
        );
        assert.ok(text.length <= bounds.characters + 1, `${text.length} characters`);
        assert.ok(reads <= READS_PER_STEP * bounds.steps + json.length, `${reads} members were read`);
      }
    });
  }
});

/** The parts of the value, each of which tells when one of its members is read. */
function counting<Value>(value: Value, onRead: () => void): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const [name, member] of Object.entries(value))
    Object.assign(value, { [name]: counting(member, onRead) });
  return new Proxy(value, {
    get(target, name) {
      onRead();
      return Reflect.get(target, name);
    },
  });
}
