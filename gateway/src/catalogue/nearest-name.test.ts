import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nearestName } from './nearest-name.ts';

const NAMES = ['openai/gpt-5', 'openai/gpt-5-mini', 'gpt-5-mini', 'anthropic/claude-opus-5-5', 'demo/echo'];

describe('nearestName', () => {
  const cases: [given: string, nearest: string | undefined][] = [
    ['openai/gpt-5-mimi', 'openai/gpt-5-mini'],
    ['OpenAI/GPT-5 ', 'openai/gpt-5'],
    ['claude-opus-5-5', 'anthropic/claude-opus-5-5'],
    ['azure/gpt-5', 'openai/gpt-5'],
    ['claude-opus-5.5', 'anthropic/claude-opus-5-5'],
    ['gpt5mini', 'gpt-5-mini'],
    ['echo', 'demo/echo'],
    ['ech', 'demo/echo'],
    ['eh', undefined],
    ['mistral-large', undefined],
    ['', undefined],
    ['constructor', undefined],
    ['gpt-5-mini'.repeat(11), undefined],
  ];
  for (const [given, nearest] of cases) {
    it(`${JSON.stringify(given.slice(0, 30))} is nearest to ${nearest}`, () => {
      assert.equal(nearestName(given, NAMES), nearest);
    });
  }

  it('counts characters added, removed and replaced, up to three', () => {
    for (const near of [
      'abcdefghijkl',
      'bcdefghijkl',
      'xabcdefghijkl',
      'abcxefghijkl',
      'acdefghijklxx',
      'xyzdefghijkl',
    ])
      assert.equal(nearestName(near, ['abcdefghijkl']), 'abcdefghijkl', near);
    for (const far of ['xyzwefghijkl', 'efghijkl', 'abcdefghijklwxyz', 'lkjihgfedcba'])
      assert.equal(nearestName(far, ['abcdefghijkl']), undefined, far);
  });

  it('finds what a comparison of every pair of characters finds', () => {
    let state = 1;
    const next = (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const word = () => Array.from({ length: 6 + next(8) }, () => 'ab-'[next(3)]).join('');
    const edits = (from: string, to: string): number => {
      if (from === '' || to === '') return from.length + to.length;
      const table = Array.from({ length: from.length + 1 }, (_, row) => [row]);
      for (let column = 0; column <= to.length; column += 1) (table[0] as number[])[column] = column;
      const at = (row: number, column: number) => table[row]?.[column] as number;
      for (let row = 1; row <= from.length; row += 1)
        for (let column = 1; column <= to.length; column += 1)
          (table[row] as number[])[column] = Math.min(
            at(row - 1, column) + 1,
            at(row, column - 1) + 1,
            at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1),
          );
      return at(from.length, to.length);
    };
    for (let round = 0; round < 500; round += 1) {
      const given = word();
      const names = Array.from({ length: 10 }, word);
      const least = Math.min(...names.map((name) => edits(given, name)));
      const found = nearestName(given, names);
      const isNear = least <= Math.min(3, Math.floor(given.length / 3));
      assert.equal(found === undefined ? undefined : edits(given, found), isNear ? least : undefined, given);
    }
  });
});
