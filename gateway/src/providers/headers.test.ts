import assert from 'node:assert/strict';
import { it } from 'node:test';
import { unusableHead } from './headers.ts';

for (const [coding, isUsable] of [
  ['identity', true],
  ['Identity', true],
  ['', true],
  ['gzip', false],
  ['identity, br', false],
] as const) {
  it(`an answer in the coding ${JSON.stringify(coding)} is ${isUsable ? 'read' : 'refused'}`, () =>
    assert.equal(unusableHead(200, { 'content-encoding': coding }) === undefined, isUsable));
}
