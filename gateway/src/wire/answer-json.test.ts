import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isTooComplex, parseJson } from './answer-json.ts';

const padding = `"${'x'.repeat(70_000)}"`;

describe('isTooComplex', () => {
  for (const [title, json, isIt] of [
    ['little that is deep', '['.repeat(60_000), true],
    ['a small object beyond what is read', `${'{"abcdefghijklmnop":'.repeat(129)}1${'}'.repeat(129)}`, true],
    ['a small object within what is read', `${'{"abcdefghijklmnop":'.repeat(128)}1${'}'.repeat(128)}`, false],
    ['an event of a thousand levels', `${'['.repeat(1_024)}${']'.repeat(1_024)}`, false],
    ['many small objects', `[${'{},'.repeat(500)}0]`, false],
    ['a small text of brackets', `["${'[{'.repeat(500)}"]`, false],
    ['a long text', `{"a":${padding}}`, false],
    ['a text of brackets', `["${'['.repeat(70_000)}","\\"[${'{,'.repeat(70_000)}"]`, false],
    ['brackets without end', '['.repeat(100_000), true],
    ['nesting beyond what is read', `{"a":${padding},"b":${'['.repeat(128)}${']'.repeat(128)}}`, true],
    ['nesting within what is read', `{"a":${padding},"b":${'['.repeat(127)}${']'.repeat(127)}}`, false],
    ['a million objects', `[${'{},'.repeat(1_000_000)}0]`, true],
    ['a million numbers', `[${'0,'.repeat(1_000_000)}0]`, true],
    ['a hundred thousand objects', `[${'{},'.repeat(100_000)}0]`, false],
  ] as const) {
    it(`is ${isIt} for ${title}`, () => assert.equal(isTooComplex(Buffer.from(json)), isIt));
  }
});

describe('parseJson', () => {
  it('is undefined for what is no JSON', () => {
    assert.equal(parseJson('{'), undefined);
    assert.deepEqual(parseJson('{"a":1}'), { a: 1 });
  });
});
