import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { editsBetween, MAX_COMPARED_LENGTH } from '@gatehouse/contract/edits-between';
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

  it('finds what a comparison with each name finds', () => {
    let state = 1;
    const next = (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const word = () => Array.from({ length: 6 + next(8) }, () => 'ab-'[next(3)]).join('');
    const edits = (from: string, to: string) => editsBetween(from, to, MAX_COMPARED_LENGTH);
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
