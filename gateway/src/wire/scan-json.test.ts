import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scanJson } from './scan-json.ts';

const NO_LIMITS = { depth: Infinity, structure: Infinity, members: Infinity };

describe('scanJson', () => {
  for (const [json, isDeeper] of [
    ['[[[[]]]]', false],
    ['[[[[[]]]]]', true],
    ['{"a":{"b":{"c":{}}}}', false],
    ['{"a":{"b":{"c":{"d":[]}}}}', true],
    ['[],[],[],[],[],[]', false],
    ['"[[[[[[[["', false],
    ['["\\"[[[[[["]', false],
    ['["\\\\",[[[[[', true],
  ] as const) {
    it(`finds ${json} ${isDeeper ? 'deeper' : 'not deeper'} than 4`, () => {
      assert.equal(scanJson(Buffer.from(json), { ...NO_LIMITS, depth: 4 }) === 'depth', isDeeper);
    });
  }

  for (const [json, structure] of [
    ['{"a":[1,2,{}]}', 9],
    ['"{[,:]}"', 0],
    ['{"{[\\",:]}":"\\\\"}', 3],
    [' 1 ', 0],
  ] as const) {
    it(`counts ${structure} structural bytes in ${json}`, () => {
      const scan = (limit: number) => scanJson(Buffer.from(json), { ...NO_LIMITS, structure: limit });
      assert.notEqual(scan(structure), 'structure');
      assert.equal(scan(structure - 1), 'structure');
    });
  }

  it('counts the members of the outermost object only, and bounds the elements of a list', () => {
    const json = Buffer.from('{"a":{"b":1,"c":2},"d":[{"e":1}]}');
    assert.equal(scanJson(json, { ...NO_LIMITS, members: 1 }), 'members');
    assert.notEqual(scanJson(json, { ...NO_LIMITS, members: 2 }), 'members');
    const list = scanJson(Buffer.from('[1,[2,3]]'), { ...NO_LIMITS, members: 1 });
    assert.equal(typeof list === 'object' && list.members.length, 1);
  });

  for (const json of [
    '{"a":1}',
    ' { "a" : 1.50 , "b":"x,\\"y" , "c" : [ 1, {"d":2} ] , "é☕": {"f":{}}\n } ',
    '{"a":"","b":null,"c":-1e5,"d":true}',
    '{}',
    '[{"a":1}]',
    ' [ 1 , "a,\\"]" , [ 2, [] ],{} , null ] ',
    '[]',
    ' [ ] ',
    '"a"',
  ]) {
    it(`finds the members of ${JSON.stringify(json)}`, () => {
      const bytes = Buffer.from(json);
      const scan = scanJson(bytes, NO_LIMITS);
      assert.ok(typeof scan === 'object');
      const parsed: unknown = JSON.parse(json);
      const expected = Array.isArray(parsed)
        ? parsed.map((element: unknown) => ['', element])
        : Object.entries(typeof parsed === 'object' ? (parsed ?? {}) : {});
      const found = scan.members.map(({ keyStart, keyEnd, valueStart, valueEnd }) => [
        JSON.parse(bytes.toString('utf8', keyStart, keyEnd) || '""'),
        JSON.parse(bytes.toString('utf8', valueStart, valueEnd)),
      ]);
      assert.deepEqual(found, expected);
      for (const { valueEnd } of scan.members) assert.doesNotMatch(json.charAt(valueEnd - 1), /\s/);
    });
  }
});
