import assert from 'node:assert/strict';
import { it } from 'node:test';
import { variableIn } from './setting.ts';

it('a variable is looked up among those that are set, also where every object has a member of its name', () => {
  const environment = { A: ' a ', EMPTY: ' ', constructor: 'own' } as Record<string, string | undefined>;
  for (const [name, expected] of [
    ['A', 'a'],
    ['EMPTY', undefined],
    ['constructor', 'own'],
    ['toString', undefined],
    ['__proto__', undefined],
    ['hasOwnProperty', undefined],
  ] as const)
    assert.equal(variableIn(environment, name), expected, name);
});
