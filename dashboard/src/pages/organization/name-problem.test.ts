import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameProblem } from './name-problem.ts';

describe('the name of an organisation', () => {
  for (const name of ['Acme', ' Ö & Söhne ', 'x'.repeat(255), '😀'.repeat(255)])
    it(`accepts ${name.slice(0, 20)}`, () => assert.equal(nameProblem(name), undefined));
  for (const [name, problem] of [
    ['', 'Enter a name.'],
    ['  ', 'Enter a name.'],
    ['<b>', 'The characters < and > are not accepted.'],
    ['x'.repeat(256), '256 characters are too many; 255 are accepted.'],
  ] as const)
    it(`refuses ${JSON.stringify(name.slice(0, 20))}`, () => assert.equal(nameProblem(name), problem));
});
