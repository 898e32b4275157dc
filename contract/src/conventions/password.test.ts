import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { register } from '../endpoints/auth.ts';
import { earlierPasswordForms, preparedPassword } from './password.ts';

describe('preparedPassword', () => {
  for (const [given, prepared] of [
    ['p\u00e4ssw\u00f6rd', 'p\u00e4ssw\u00f6rd'],
    ['pa\u0308sswo\u0308rd', 'p\u00e4ssw\u00f6rd'],
    ['\u1112\u1161\u11ab', '\ud55c'],
    ['\u0627\u0653', '\u0622'],
    ['a\u00a0b\u3000c\u2003d\u1680e', 'a b c d e'],
    // Case, width, look-alikes, and spaces at the ends stay as they are.
    [' Correct  HORSE ', ' Correct  HORSE '],
    ['\uff50\uff41\ufb01\u200b\u2126\u00aa', '\uff50\uff41\ufb01\u200b\u03a9\u00aa'],
    ['a\tb\nc\u2028d', 'a\tb\nc\u2028d'],
    ['', ''],
  ] as const) {
    it(`makes ${JSON.stringify(prepared)} of ${JSON.stringify(given)}, and leaves that as it is`, () => {
      assert.equal(preparedPassword(given), prepared);
      assert.equal(preparedPassword(prepared), prepared);
    });
  }

  it('leaves what is too long for a password as it is, which would take long', () => {
    const long = `a${'\u0301\u0316'.repeat(16_000)}`;
    assert.equal(preparedPassword(long), long);
    assert.deepEqual(earlierPasswordForms(long), []);
    assert.equal(register.body.shape.password.safeParse(long).success, false);
  });

  it('counts for the length of a new password', () => {
    const isAccepted = (password: string) => register.body.shape.password.safeParse(password).success;
    const letter = 'e\u0301';
    assert.deepEqual(
      [7, 8, 256, 257].map((letters) => isAccepted(letter.repeat(letters))),
      [false, true, true, false],
    );
    assert.deepEqual(
      [256, 257].map((letters) => isAccepted('\u03b1\u0313\u0300\u0345'.repeat(letters))),
      [true, false],
    );
  });
});

describe('earlierPasswordForms', () => {
  it('are none for most, and the other ones for a password with accents or spaces', () => {
    for (const password of ['', 'correct horse', 'Pa$$w0rd!', '\u{1F600}', 'stra\u00dfe'])
      assert.deepEqual(earlierPasswordForms(password), []);
    assert.deepEqual(earlierPasswordForms('\u00e9'), ['e\u0301']);
    assert.deepEqual(earlierPasswordForms('e\u0301'), ['e\u0301']);
    assert.deepEqual(earlierPasswordForms('a\u00a0\u00e9'), ['a\u00a0\u00e9', 'a\u00a0e\u0301']);
  });
});
