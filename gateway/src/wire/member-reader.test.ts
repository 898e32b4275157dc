import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemberReader } from './member-reader.ts';

function read(json: string, at: readonly number[] = []): unknown {
  const bytes = Buffer.from(json);
  const reader = new MemberReader('usage');
  const ends = [...at, bytes.length];
  for (const [index, end] of ends.entries()) reader.push(bytes.subarray(ends[index - 1] ?? 0, end));
  return reader.value;
}

describe('MemberReader', () => {
  for (const [json, value] of [
    ['{"usage":{"a":1}}', { a: 1 }],
    ['{"id":"x","choices":[{"a":"}"}],"usage": {"a" : [1, {"b":2}]} ,"z":0}', { a: [1, { b: 2 }] }],
    ['{"usage":7,"z":0}', 7],
    ['{"usage":"a,b}"}', 'a,b}'],
    ['{"us\\u0061ge":{"a":1}}', { a: 1 }],
    ['{"usage":1,"usage":2}', 2],
    ['{"choices":[{"usage":1}]}', undefined],
    ['{"a":"\\"usage\\":1,\\"usage\\":2"}', undefined],
    ['{"a":"\\\\","usage":3}', 3],
    ['{"a":{"b":"usage"},"c":"usage"}', undefined],
    ['{"é☕":"é","usage":"☕"}', '☕'],
    ['{"usages":1,"usag":2}', undefined],
    ['{"usage":{"a":1}', undefined],
    ['{"usage":nope}', undefined],
    ['["usage",{"usage":1}]', undefined],
    ['<html>usage: {}</html>', undefined],
    ['', undefined],
  ] as const) {
    it(`finds ${JSON.stringify(value)} in ${json}, wherever it is split`, () => {
      const { length } = Buffer.from(json);
      for (let one = 0; one <= length; one += 1) {
        for (let two = one; two <= length; two += 1) assert.deepEqual(read(json, [one, two]), value);
      }
      const everywhere = Array.from({ length: Math.max(0, length - 1) }, (_, index) => index + 1);
      assert.deepEqual(read(json, everywhere), value);
    });
  }

  it('reads behind long lists of numbers, wherever they are split', () => {
    const numbers = (count: number) => `[${Array(count).fill('-0.125').join()}]`;
    const lists = [0, 30, 40, 100, 5_000].map(
      (count) => `{"e":${numbers(count)},"t":"],}{\\"","o":{"usage":1}}`,
    );
    const json = `{"data":[${lists.join()}],"usage":{"n":7}}`;
    for (let at = 0; at <= json.length; at += 61) {
      assert.deepEqual(read(json, [at, Math.min(at + 400, json.length)]), { n: 7 });
    }
  });

  it('reads what stands behind what is nested deep', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)},"usage":1}`;
    for (const depth of [128, 129, 5_000, 1_000_000]) assert.equal(read(nested(depth), [5, 60]), 1);
  });

  it('keeps nothing of what is large', () => {
    assert.equal(read(`{"usage":"${'x'.repeat(20_000)}"}`), undefined);
    assert.equal(read(`{"${'x'.repeat(20_000)}":1,"usage":2}`), 2);
  });
});
