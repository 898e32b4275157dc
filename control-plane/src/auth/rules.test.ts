import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusalToJoin } from './rules.ts';

describe('refusalToJoin', () => {
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
  ] as const) {
    it(`${isRefused ? 'refuses' : 'lets in'} ${email} to the organisation of ${owner} when ${policy}`, () =>
      assert.equal(refusalToJoin(policy, email, owner) !== undefined, isRefused));
  }
});
