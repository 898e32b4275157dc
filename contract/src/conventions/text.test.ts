import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { z } from 'zod';
import { codePoints, isStorableText, label, text } from './text.ts';

describe('isStorableText', () => {
  for (const [value, isStorable] of [
    ['', true],
    ['plain', true],
    ['\u0001\u001f\u007f', true],
    ['😀', true],
    ['\ufffd\uffff', true],
    ['\ue000', true],
    ['\u0000', false],
    ['a\u0000b', false],
    ['\ud800', false],
    ['\udc00', false],
    ['a\ud83d', false],
    ['\ude00\ud83d', false],
  ] satisfies [string, boolean][]) {
    it(`is ${isStorable} for ${JSON.stringify(value)}`, () => {
      assert.equal(isStorableText(value), isStorable);
      assert.equal(text().safeParse(value).success, isStorable);
    });
  }
});

describe('label', () => {
  const name = label(5);

  for (const [given, read] of [
    ['abc', 'abc'],
    ['  abc  ', 'abc'],
    ['\t\n abc \r\n', 'abc'],
    ['\u00a0abc\u3000\ufeff', 'abc'],
    ['a b c', 'a b c'],
    ['abcde', 'abcde'],
    ['  abcde  ', 'abcde'],
    ['😀😀😀😀😀', '😀😀😀😀😀'],
    ['<b>', '<b>'],
  ] satisfies [string, string][]) {
    it(`reads ${JSON.stringify(given)} as ${JSON.stringify(read)}`, () =>
      assert.equal(name.parse(given), read));
  }

  for (const [given, ...kinds] of [
    ['', 'blank'],
    [' \t\n', 'blank'],
    ['\u00a0\u2003', 'blank'],
    ['abcdef', 'too_long'],
    ['😀😀😀😀😀😀', 'too_long'],
    ['a\nb', 'control_characters'],
    ['a\u001b[2J', 'control_characters'],
    ['a\u007fb', 'control_characters'],
    ['a\u0085b', 'control_characters'],
    ['a\tbcdef', 'control_characters', 'too_long'],
    ['a\u0000b', 'text_not_storable', 'control_characters'],
    ['\ud800', 'text_not_storable'],
    [5, 'invalid_type'],
    [null, 'invalid_type'],
    [undefined, 'invalid_type'],
  ] as [unknown, ...string[]][]) {
    it(`refuses ${JSON.stringify(given)} as ${kinds.join(' and ')}`, () => {
      const issues = name.safeParse(given).error?.issues ?? [];
      assert.deepEqual(issues.map(kindOf), kinds);
    });
  }
});

describe('codePoints', () => {
  it('counts characters beyond the first plane once, and the parts of a composed one singly', () => {
    assert.equal(codePoints(''), 0);
    assert.equal(codePoints('abc'), 3);
    assert.equal(codePoints('😀'.repeat(255)), 255);
    assert.equal(codePoints('e\u0301'), 2);
    assert.equal(codePoints('👩‍👩‍👧'), 5);
  });
});

function kindOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'custom' ? String(issue.params?.['type']) : issue.code;
}
