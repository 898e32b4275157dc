import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Refusal } from '@gatehouse/contract';
import { createPasswords, isCommonPassword } from './passwords.ts';

describe('createPasswords', () => {
  const passwords = createPasswords();

  it('hashes by Argon2id with 19 MiB and two passes, and a salt of its own each time', async () => {
    const [one, two] = await Promise.all([passwords.hash('same'), passwords.hash('same')]);
    assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    assert.notEqual(one, two);
    assert.equal(await passwords.matches('same', one), true);
    assert.equal(await passwords.matches('same', two), true);
  });

  it('knows a password by every bit of it', async () => {
    const stored = await passwords.hash('Correct horse');
    for (const wrong of ['', 'correct horse', 'Correct horse ', ' Correct horse', 'Correct hors', stored])
      assert.equal(await passwords.matches(wrong, stored), false, wrong);
    const long = await passwords.hash('x'.repeat(10_000));
    assert.equal(await passwords.matches('x'.repeat(9_999), long), false);
    assert.equal(await passwords.matches('x'.repeat(10_000), long), true);
  });

  it('says no without a hash, to anything', async () => {
    for (const password of ['', 'anything', 'x'.repeat(60_000)])
      assert.equal(await passwords.matches(password, null), false);
  });

  it('takes two at a time and twenty in line, refuses whoever comes then, and is free again afterwards', async () => {
    const crowded = createPasswords();
    const hashInLine = () => crowded.inLine(() => crowded.hash('x'));
    const attempts = await Promise.allSettled(Array.from({ length: 30 }, hashInLine));
    assert.deepEqual(
      attempts.map(({ status }) => status),
      [...Array(22).fill('fulfilled'), ...Array(8).fill('rejected')],
    );
    for (const attempt of attempts) {
      if (attempt.status === 'fulfilled') continue;
      assert.ok(attempt.reason instanceof Refusal);
      assert.equal(attempt.reason.status, 503);
      assert.equal(attempt.reason.headers['retry-after'], '1');
    }
    const again = await Promise.allSettled(Array.from({ length: 22 }, hashInLine));
    assert.ok(again.every(({ status }) => status === 'fulfilled'));
  });

  it('gives its place back when a hash cannot be read', async () => {
    const crowded = createPasswords();
    const broken = await Promise.allSettled(
      Array.from({ length: 22 }, () => crowded.inLine(() => crowded.matches('x', 'no hash'))),
    );
    assert.ok(broken.every(({ status }) => status === 'rejected'));
    const again = await Promise.allSettled(
      Array.from({ length: 22 }, () => crowded.inLine(() => crowded.matches('x', null))),
    );
    assert.ok(again.every(({ status }) => status === 'fulfilled'));
  });
});

describe('isCommonPassword', () => {
  for (const [password, isCommon] of [
    ['password', true],
    ['PassWord', true],
    ['password1', true],
    ['12345678', true],
    ['qwertyuiop', true],
    ['iloveyou', true],
    ['987654321', true],
    ['123123123', true],
    ['12341234', true],
    ['00000000', true],
    ['aaaaaaaa', true],
    ['ABCDEFGH', true],
    ['0123456789', true],
    ['poiuytrewq', true],
    ['Passw0rd!', true],
    ['P@ssw0rd1', true],
    ['Password1!', true],
    ['abcdefgj', false],
    ['12345678 and more', false],
    ['aaaaaaab', false],
    ['correct horse battery staple', false],
    ['q7#Lm2x9', false],
    ['', false],
    ['constructor', false],
    ['__proto__', false],
  ] satisfies [string, boolean][]) {
    it(`is ${isCommon} for ${JSON.stringify(password)}`, async () =>
      assert.equal(await isCommonPassword(password), isCommon));
  }
});
