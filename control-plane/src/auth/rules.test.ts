import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secret } from '@gatehouse/contract';
import { comparableEmail, passwordIssue, reasonNotToJoin } from './rules.ts';

describe('reasonNotToJoin', () => {
  for (const [policy, email, owner, isRefused] of [
    ['open', 'a@x.example', 'o@y.example', false],
    ['open', 'a@x.example', null, false],
    ['closed', 'a@x.example', 'o@x.example', true],
    ['closed', 'a@x.example', null, true],
    ['same-domain', 'a@x.example', 'o@x.example', false],
    ['same-domain', 'a@x.example', 'o@y.example', true],
    ['same-domain', 'a@sub.x.example', 'o@x.example', true],
    ['same-domain', 'a@x.example', 'o@sub.x.example', true],
    ['same-domain', 'a@x.example', null, true],
    ['same-domain', 'a@example', 'o@x.example', true],
    ['same-domain', 'a@notx.example', 'o@x.example', true],
    ['same-domain', 'a@x.example.evil.example', 'o@x.example', true],
    ['same-domain', 'x.example@y.example', 'o@x.example', true],
  ] as const) {
    it(`${isRefused ? 'refuses' : 'lets in'} ${email} to the organisation of ${owner} when ${policy}`, () =>
      assert.equal(reasonNotToJoin(policy, email, owner) !== undefined, isRefused));
  }
});

describe('comparableEmail', () => {
  it('is the address as a sign-in reads it', () => {
    assert.equal(comparableEmail(' Ada@Example.COM\n'), 'ada@example.com');
    assert.equal(comparableEmail('\u212aate@example.com'), undefined);
    assert.equal(comparableEmail('a\u0000@example.com'), undefined);
  });
});

describe('passwordIssue', () => {
  it('is what registration says of it', () => {
    assert.equal(passwordIssue(new Secret('8 chars!')), undefined);
    assert.equal(passwordIssue(new Secret('😀'.repeat(256))), undefined);
    assert.match(String(passwordIssue(new Secret('7 chars'))), /at least 8/);
    assert.match(String(passwordIssue(new Secret('😀'.repeat(257)))), /at most 256/);
    assert.match(String(passwordIssue(new Secret('8 chars!\u0000'))), /U\+0000/);
  });
});
