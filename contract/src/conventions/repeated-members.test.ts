import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { repeatedMembers } from './repeated-members.ts';

const names = new Set(['a', 'credit_limit_pkr']);

describe('repeatedMembers', () => {
  for (const [text, expected] of [
    ['{}', []],
    ['[]', []],
    ['null', []],
    ['"a"', []],
    ['{"a": 1}', []],
    ['{"a": 1, "a": 2}', ['a']],
    ['{"a": 1, "a": 1, "a": null}', ['a']],
    ['{"a":"a","b":"a"}', []],
    ['{"b": 1, "b": 2}', []],
    ['{"a": 1, "A": 2}', []],
    // Other spellings of one name.
    ['{"a": 1, "\\u0061": 2}', ['a']],
    ['{"credit\\u005flimit_pkr": 1, "credit_limit\\u005Fpkr": 2}', ['credit_limit_pkr']],
    ['\r\n{ "a"\t:1 ,\n"credit_limit_pkr":2,"credit_limit_pkr" : 3,"a":4}', ['credit_limit_pkr', 'a']],
    // Members of what is inside are others.
    ['{"a": {"a": 1}}', []],
    ['{"a": [{"a": 1, "a": 2}], "b": {"a": {}, "a": []}}', []],
    ['{"x": {"a": 1}, "a": 1}', []],
    ['{"x": [[], {}, [{"a": 0}]], "a": {"y": [1, 2]}, "a": []}', ['a']],
    ['[{"a": 1}, {"a": 2}, "a", "a"]', []],
    ['[{"a": 1, "a": 2}]', []],
    // Text that looks like members.
    ['{"x": "\\"a\\": 1, \\"a\\": 2", "a": 1}', []],
    ['{"x\\\\": 1, "a": "{", "y": "}", "a": 2}', ['a']],
    ['{"a": ",", "b": "a", "c": ["a", "a"]}', []],
  ] as [string, string[]][]) {
    it(`finds ${expected.join(' and ') || 'none'} in ${text.trim()}`, () => {
      JSON.parse(text);
      assert.deepEqual(repeatedMembers(text, names), expected);
    });
  }
});
