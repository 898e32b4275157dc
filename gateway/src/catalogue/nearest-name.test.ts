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
});
