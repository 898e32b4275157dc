import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseJson } from './answer-json.ts';
import { MAX_EXACT_NUMBERS, numberOf, parseExact } from './exact-json.ts';
import { isJsonObject, type JsonObject } from './json.ts';

const EXACT = [
  ...['9007199254740993', '-9007199254740993', '18446744073709551615', '123456789.123456789123456789'],
  ...['1.0', '0.10', '-0', '-0.0', '1e400', '-1E+400', '1e-400', '1e3', '0.1e-7', '100000000000000000000000'],
];

describe('parseExact', () => {
  it('keeps every number as it is written', () => {
    for (const number of EXACT) {
      for (const text of [number, `[${number}]`, `[0,{"a":${number}},${number},"${number}"]`]) {
        assert.equal(JSON.stringify(parseExact(text)), text);
      }
    }
  });

  it('gives numbers that a parse keeps, strings and names as JSON.parse does', () => {
    const texts = [
      ...['0', '-1', '1.5', '0.1234567890123456', '9007199254740991', 'null', '""', '[]', '{}'],
      ...[
        '{"1":2,"0":1.5,"1":3}',
        '{"9007199254740993":"9007199254740993"}',
        '["\\\\","\\"1.0","\\\\\\"1.0"]',
      ],
      ...[' { "a" : [ -1 , 2.5e-7 ] } ', '{"__proto__":{"a":1}}'],
    ];
    for (const text of texts) assert.deepEqual(parseExact(text), JSON.parse(text), text);
  });

  it('keeps them under any name, and in white space', () => {
    const kept = parseExact('{"__proto__":1.0,"a b":{"toJSON": 2.0 ,"\\"":\n3.0}}') as JsonObject;
    assert.equal(JSON.stringify(kept), '{"__proto__":1.0,"a b":{"toJSON":2.0,"\\"":3.0}}');
    assert.equal(Object.getPrototypeOf(kept), Object.prototype);
  });

  it('returns undefined for invalid JSON, invalid numbers included', () => {
    const texts = [
      '',
      '1.',
      '.5',
      '01',
      '+1',
      '1e',
      '--1',
      '{1.0:2}',
      '[1.0',
      '"1.0',
      '1.0 2.0',
      '9007199254740993.',
    ];
    for (const text of texts) {
      assert.equal(parseExact(text), undefined, text);
      assert.equal(parseJson(text), undefined, text);
    }
  });

  it('reads what is nested as deep as JSON.parse does', () => {
    const text = `${'['.repeat(30_000)}1.0${']'.repeat(30_000)}`;
    let value = parseExact(text);
    while (Array.isArray(value)) value = value[0];
    assert.equal(JSON.stringify(value), '1.0');
  });

  it('keeps a bounded count of numbers, and reads the others as JSON.parse does', () => {
    const read = parseExact(`[${'1.0,'.repeat(MAX_EXACT_NUMBERS)}1.0]`) as unknown[];
    assert.ok(JSON.isRawJSON(read[MAX_EXACT_NUMBERS - 1]));
    assert.equal(read[MAX_EXACT_NUMBERS], 1);
    // What a parse keeps is not among them.
    const counts = parseExact(`[${'1,0.12345678901234568,'.repeat(MAX_EXACT_NUMBERS)}1.0]`) as unknown[];
    assert.ok(JSON.isRawJSON(counts.at(-1)));
  });
});

describe('a number that was kept', () => {
  it('is no object, and is read as a number', () => {
    assert.equal(isJsonObject(parseExact('1.0')), false);
    assert.equal(numberOf(parseExact('10.0')), 10);
    assert.equal(numberOf(parseExact('1e400')), Number.POSITIVE_INFINITY);
    for (const other of [1, '1', null, undefined, {}]) assert.equal(numberOf(other), other);
  });
});
