import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type OrganizationName, organizationName, projectName } from './rules.ts';

describe('organizationName', () => {
  for (const [given, name, key] of [
    ['Acme', 'Acme', 'acme'],
    ['  Acme  Inc. ', 'Acme  Inc.', 'acme  inc.'],
    ['ＡＣＭＥ', 'ACME', 'acme'],
    ['Straße', 'Straße', 'strasse'],
    ['STRAẞE', 'STRAẞE', 'strasse'],
    ['ΟΔΟΣ', 'ΟΔΟΣ', 'οδος'],
    ['οδοσ', 'οδοσ', 'οδος'],
    ['İstanbul', 'İstanbul', 'i̇stanbul'],
    ['Cafe\u0301', 'Café', 'café'],
    ['ﬁlm', 'film', 'film'],
    ['①', '1', '1'],
    ['a\u00a0b', 'a b', 'a b'],
    ['\u00a0\u3000Wide\u2003', 'Wide', 'wide'],
    ['النور', 'النور', 'النور'],
    [
      `"; DROP TABLE users -- {{7*7}} %s %00 'q'`,
      `"; DROP TABLE users -- {{7*7}} %s %00 'q'`,
      `"; drop table users -- {{7*7}} %s %00 'q'`,
    ],
    ['Ac\u00adme', 'Ac\u00adme', 'acme'],
    ['Acme\u200b', 'Acme\u200b', 'acme'],
    ['👩‍👧', '👩‍👧', '👩👧'],
    ['\uff1cb\uff1e', '\uff1cb\uff1e', '<b>'],
    ['\ufe64b\ufe65', '\ufe64b\ufe65', '<b>'],
    ['<\u0338'.normalize('NFC'), '\u226e', '\u226e'],
  ] satisfies [string, string, string][]) {
    it(`reads ${JSON.stringify(given)} as ${JSON.stringify(name)}, the same as ${JSON.stringify(key)}`, () =>
      assert.deepEqual(organizationName(given), { name, key }));
  }

  for (const [about, ...names] of [
    [
      /blank/,
      '',
      '\t',
      '\u3164\u200b \u00a0',
      '\uffa0',
      '\u115f\u1160',
      '\u2060 \ufeff\u00ad',
      '\ufe0f',
      '\u{e0100}',
    ],
    [/< or >/, '<', 'a>b', '<script>alert(1)</script>'],
    [/U\+0000/, 'a\u0000'],
    [/well-formed/, '\ud800'],
    [
      /control/,
      ...Array.from('\n\r\t\u0007\u001b\u007f\u0085\u009b\u2028\u2029', (control) => `a${control}b`),
    ],
    [/direction/, 'a\u202eb', 'a\u2066b\u2069', 'a\u200fb', 'a\u061cb'],
    [/255/, 'x'.repeat(256), 'x'.repeat(60_000), '\ufdfa'.repeat(100)],
  ] as [RegExp, ...string[]][]) {
    it(`rejects each of ${names.length}, and names the rule ${about}`, () => {
      for (const name of names) {
        const read = organizationName(name);
        assert.match('issue' in read ? read.issue : assert.fail(JSON.stringify(name)), about);
      }
    });
  }

  it('rejects what is long before it is normalised, which would take seconds', (context) => {
    const { mock } = context.mock.method(String.prototype, 'normalize');
    assert.ok('issue' in organizationName(`e${'\u0301'.repeat(16_000)}${'\u0316'.repeat(16_000)}`));
    assert.equal(mock.callCount(), 0);
    assert.ok('name' in organizationName('Cafe\u0301'));
    assert.notEqual(mock.callCount(), 0);
  });

  it('counts code points of what is stored', () => {
    assert.ok('name' in organizationName('\u03b1\u0313\u0300\u0345'.repeat(255)));
    assert.ok('name' in organizationName('😀'.repeat(255)));
    assert.ok('issue' in organizationName('😀'.repeat(256)));
    assert.ok('name' in organizationName('e\u0301'.repeat(255)));
    assert.ok('issue' in organizationName('\ufdfa'.repeat(15)));
  });

  it('is stable, for 20,000 names of what is odd in Unicode', () => {
    for (const given of oddNames(20_000)) {
      const read = organizationName(given);
      if ('issue' in read) continue;
      const shown = [...given].map((character) => character.codePointAt(0)?.toString(16)).join(' ');
      // What is stored is a name by the same rules, and the same name.
      assert.deepEqual(organizationName(read.name), read, shown);
      assert.ok(!/[<>]/.test(read.name), shown);
      // Case and composition do not make another name of it. (Case is mapped in composed text; elsewhere a mark
      // that becomes a letter of its own would take the marks after it along.)
      const composed = given.normalize('NFC');
      for (const variant of [
        composed,
        composed.toUpperCase(),
        composed.toLowerCase(),
        given.normalize('NFKD'),
      ])
        assert.equal(keyOf(organizationName(variant)) ?? read.key, read.key, shown);
      // PostgreSQL indexes up to some 2,700 bytes, and a name has up to 255 code points.
      assert.ok(Buffer.byteLength(read.key) <= 10 * [...read.name].length, shown);
    }
  });
});

describe('projectName', () => {
  it('is one line of text, trimmed, of 255 characters at most', () => {
    assert.equal(projectName(' Mobile app\n'), 'Mobile app');
    assert.equal(projectName('😀'.repeat(255)), '😀'.repeat(255));
    for (const given of [
      '',
      ' \t',
      'two\nlines',
      '\u001b[2J',
      '\u0085x\u0085',
      'a\u0000',
      '\ud800',
      '😀'.repeat(256),
    ])
      assert.equal(typeof projectName(given), 'object', JSON.stringify(given));
  });
});

function keyOf(read: OrganizationName | { readonly issue: string }): string | undefined {
  return 'key' in read ? read.key : undefined;
}

/** Names of characters that have a case, a compatibility form or a mark; the same in every run. */
function* oddNames(count: number): Generator<string> {
  const odd = Array.from({ length: 0x1_ffff }, (_, code) => String.fromCodePoint(code)).filter(
    (character) =>
      character.isWellFormed() &&
      (character.toUpperCase() !== character ||
        character.toLowerCase() !== character ||
        character.normalize('NFKC') !== character ||
        /\p{M}/u.test(character)),
  );
  let state = 7;
  const random = (max: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * max);
  };
  for (let n = 0; n < count; n += 1)
    yield `a${Array.from({ length: 1 + random(4) }, () => odd[random(odd.length)]).join('')}b`;
}
