import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wholeJson, withoutMember } from './json.ts';

describe('withoutMember', () => {
  for (const [json, rest] of [
    ['{"a":1,"usage":null}', '{"a":1}'],
    ['{"usage":null,"a":1}', '{"a":1}'],
    ['{"usage":{"a":[1,{"usage":2}]}}', '{}'],
    ['{}', '{}'],
    [' { } ', ' { } '],
    [
      '{"a": 1.50, "usage" : {"x":"}\\",{"}  ,\n "b":[",",{"usage":0}]}',
      '{"a": 1.50  ,\n "b":[",",{"usage":0}]}',
    ],
    ['{"a":"\\"usage\\":null,","usage":null}', '{"a":"\\"usage\\":null,"}'],
    ['{"us\\u0061ge":1,"a":2}', '{"a":2}'],
    ['{"usage":1,"a":2,"usage":3}', '{"a":2}'],
    ['{"usage":1,"a":2,"usage":null}', '{"a":2}'],
    ['{"us\\u0061ge":1,"a":2,"usage":null}', '{"a":2}'],
    ['{"a":{"b":1,"usage":null}}', '{"a":{"b":1,"usage":null}}'],
    ['{"a":",","usage":null}', '{"a":","}'],
    ['{"usage":null}', '{}'],
    ['{"a":{"usage":1}}', '{"a":{"usage":1}}'],
    ['{"usages":1,"usag":2}', '{"usages":1,"usag":2}'],
    ['{"é":"☕\\\\","usage":1}', '{"é":"☕\\\\"}'],
    ['{"a":"usage","usage":"usage"}', '{"a":"usage"}'],
  ] as const) {
    it(`makes ${json} ${rest}`, () => {
      assert.equal(withoutMember(json, 'usage'), rest);
      const { usage: _, ...expected } = JSON.parse(json) as Record<string, unknown>;
      assert.deepEqual(JSON.parse(rest), expected);
    });
  }
});

describe('wholeJson', () => {
  for (const [title, text, written] of [
    ['a half', 'a \ud83d', '"a \ufffd"'],
    ['the other half', '\ude00b', '"\ufffdb"'],
    ['both', '😀', '"😀"'],
    ['an escape of a half as text', '\\ud83d', String.raw`"\\ud83d"`],
    ['a half after a backslash', '\\\ud83d\n', String.raw`"\\`.concat('\ufffd', String.raw`\n"`)],
  ] as const) {
    it(`writes ${title}`, () => assert.equal(wholeJson(text), written));
  }
});
