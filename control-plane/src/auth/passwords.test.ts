import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, it } from 'node:test';
import { Secret } from '@gatehouse/contract';
import { hashSync } from '@node-rs/argon2';
import { createPasswords, isCommonPassword } from './passwords.ts';

const ACCENTS = 'p\u00e4ssw\u00f6rd \u0622';

describe('createPasswords', () => {
  const passwords = createPasswords();

  it('hashes by Argon2id with 19 MiB and two passes, and a salt of its own each time', async () => {
    const [one, two] = await Promise.all([
      passwords.hash(new Secret('same')),
      passwords.hash(new Secret('same')),
    ]);
    assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    assert.notEqual(one, two);
    assert.equal(await passwords.matches(new Secret('same'), one), true);
    assert.equal(await passwords.matches(new Secret('same'), two), true);
  });

  it('knows a password by every bit of it', async () => {
    const stored = await passwords.hash(new Secret('Correct horse'));
    for (const wrong of ['', 'correct horse', 'Correct horse ', ' Correct horse', 'Correct hors', stored])
      assert.equal(await passwords.matches(new Secret(wrong), stored), false, wrong);
    const long = await passwords.hash(new Secret('x'.repeat(10_000)));
    assert.equal(await passwords.matches(new Secret('x'.repeat(9_999)), long), false);
    assert.equal(await passwords.matches(new Secret('x'.repeat(10_000)), long), true);
  });

  it('knows a password in either Unicode form', async () => {
    const stored = await passwords.hash(new Secret(`caf\u00e9 ${ACCENTS}`));
    for (const form of ['NFC', 'NFD'] as const)
      assert.equal(
        await passwords.matches(new Secret(`caf\u00e9\u00a0${ACCENTS}`.normalize(form)), stored),
        true,
      );
    assert.equal(await passwords.matches(new Secret(`cafe ${ACCENTS}`), stored), false);
  });

  it('knows a password whose hash is of another form, and renews that hash once', async () => {
    const [composed, decomposed] = [new Secret(ACCENTS), new Secret(ACCENTS.normalize('NFD'))];
    const old = hashSync(decomposed.reveal());
    for (const password of [composed, decomposed]) {
      assert.equal(await passwords.matches(password, old), true);
      const renewed = (await passwords.renewed(password, old)) ?? assert.fail('not renewed');
      for (const again of [composed, decomposed]) {
        assert.equal(await passwords.matches(again, renewed), true);
        assert.equal(await passwords.renewed(again, renewed), undefined);
      }
    }
    const plain = await passwords.hash(new Secret('plain'));
    assert.equal(await passwords.renewed(new Secret('plain'), plain), undefined);
  });

  it('hashes as often for a wrong password, whatever the stored hash is', async () => {
    let tasks = 0;
    const counted = createPasswords(undefined, async ({ password, stored }) => {
      tasks += 1;
      return stored === undefined ? `hash of ${password}` : stored === `hash of ${password}`;
    });
    // The first one makes what is compared where there is no hash.
    await counted.matches(new Secret('x'), null);
    for (const [wrong, hashes] of [
      ['plain', 1],
      ['\u00e9', 2],
      ['e\u0301', 2],
      ['\u00a0\u00e9', 3],
    ] as const) {
      for (const stored of [null, 'hash of another', 'hash of \u00e8', 'hash of e\u0300']) {
        tasks = 0;
        assert.equal(await counted.matches(new Secret(wrong), stored), false);
        assert.equal(tasks, hashes);
      }
    }
  });

  it('hashes two at a time at most, of all queues together: one processor is left free', async () => {
    let running = 0;
    let most = 0;
    const run = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      return 'hash';
    };
    const several = [createPasswords(undefined, run), createPasswords(undefined, run)];
    await Promise.all(
      Array.from({ length: 24 }, (_, n) => several[n % 2]?.hash(new Secret(`password ${n}`))),
    );
    assert.equal(most, availableParallelism() > 2 ? 2 : 1);
  });

  it('leaves the event loop free while it hashes', async () => {
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const all = Array.from({ length: 4 }, (_, n) => passwords.hash(new Secret(`password ${n}`)));
    await Promise.all(all);
    isOver = true;
    // Hashed in the loop itself, each would take one.
    assert.ok(turns > 20, `${turns} turns`);
  });

  it('says no without a hash, to anything', async () => {
    for (const password of ['', 'anything', 'x'.repeat(60_000)])
      assert.equal(await passwords.matches(new Secret(password), null), false);
  });

  it('hashes on when a hash cannot be read', async () => {
    const caller = { sourceIp: '192.0.2.1', email: undefined, gone: new AbortController().signal };
    const crowded = createPasswords();
    const broken = await Promise.allSettled(
      Array.from({ length: 24 }, () =>
        crowded.queued(caller, () => crowded.matches(new Secret('x'), 'no hash')),
      ),
    );
    assert.ok(broken.every(({ status }) => status === 'rejected'));
    const again = await Promise.allSettled(
      Array.from({ length: 24 }, () => crowded.queued(caller, () => crowded.matches(new Secret('x'), null))),
    );
    assert.ok(again.every(({ status }) => status === 'fulfilled'));
  });
});

describe('isCommonPassword', () => {
  const common =
    'password PassWord password1 12345678 qwertyuiop iloveyou 987654321 123123123 12341234 00000000 aaaaaaaa ' +
    'ABCDEFGH 0123456789 poiuytrewq Passw0rd! P@ssw0rd1 Password1!';
  const others = ['12345678 and more', 'correct horse battery staple', ''];
  for (const [passwords, isCommon] of [
    [common.split(' '), true],
    [[...'abcdefgj aaaaaaab q7#Lm2x9 constructor __proto__'.split(' '), ...others], false],
  ] as const) {
    it(`is ${isCommon} for each of ${passwords.length}`, async () => {
      for (const password of passwords)
        assert.equal(await isCommonPassword(new Secret(password)), isCommon, password);
    });
  }
});
