import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secret } from '@gatehouse/contract';
import { keyHint, providerIssue } from './rules.ts';

describe('keyHint', () => {
  for (const [key, hint] of [
    ['sk-provider-0123456789abcdef-WXYZ', 'WXYZ'],
    ['twelve-chars', 'hars'],
    ['elevenchars', null],
    ['1', null],
  ] as const)
    it(`is ${hint} for ${key}`, () => assert.equal(keyHint(new Secret(key)), hint));
});

describe('providerIssue', () => {
  const providers = [
    { name: 'anthropic', takesKey: true },
    { name: 'demo', takesKey: false },
    { name: 'openai', takesKey: true },
  ];
  for (const [given, issue] of [
    ['openai', undefined],
    ['mistral', "There is no provider 'mistral'. Known: anthropic, openai."],
    ['', "There is no provider ''. Known: anthropic, openai."],
    ['OpenAI', "There is no provider 'OpenAI'. Known: anthropic, openai."],
    ['openai ', "There is no provider 'openai '. Known: anthropic, openai."],
    ['__proto__', "There is no provider '__proto__'. Known: anthropic, openai."],
    ['demo', "The provider 'demo' takes no key. Those that do: anthropic, openai."],
  ] as const)
    it(`is ${issue} for ${JSON.stringify(given)}`, () =>
      assert.equal(providerIssue(given, providers), issue));

  it('says when no provider takes a key', () => {
    assert.match(String(providerIssue('x', [])), /'x', and the catalogue has none that takes a key\.$/);
  });

  for (const [what, given] of [
    ['letters', 'x'.repeat(60_000)],
    ['characters that JSON escapes', '\u0001'.repeat(9_000)],
    ['characters of four bytes', '😀'.repeat(9_000)],
    ['quotes', '"'.repeat(9_000)],
  ] as const)
    it(`keeps the body within 1 KiB for many ${what} and many providers`, () => {
      const many = Array.from({ length: 500 }, (_, n) => ({ name: `provider-${n}`, takesKey: true }));
      const issue = String(providerIssue(given, many));
      assert.ok(Buffer.byteLength(JSON.stringify({ error: issue })) <= 1_024);
      assert.match(issue, /…'\. Known: provider-0, provider-1, .* and \d+ more\.$/);
      assert.ok(issue.isWellFormed());
    });
});
