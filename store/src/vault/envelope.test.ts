import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import {
  checkCanary,
  openRecord,
  rewrapRecord,
  type SealedRecord,
  sealCanary,
  sealRecord,
} from './envelope.ts';
import { createKeyRing } from './key-ring.ts';
import { MasterKey } from './master-key.ts';
import { bindingOf, VaultTampered } from './seal.ts';

const SECRET = 'sk-provider-0123456789abcdef';
const masterKey = MasterKey.generate();
const place = { organizationId: randomUUID(), provider: 'openai', version: 7n };

const flipped = (bytes: Buffer, bit: number) => {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
};

describe('a sealed record', () => {
  const record = sealRecord(masterKey, place, SECRET);

  it('opens to what was sealed, at every length', () => {
    assert.equal(openRecord(masterKey, record), SECRET);
    for (const length of [1, 2, 15, 16, 17, 4_096]) {
      const secret = 'x'.repeat(length);
      assert.equal(openRecord(masterKey, sealRecord(masterKey, place, secret)), secret);
    }
  });

  it('opens nowhere else: another organisation, provider, version, master key or id of one', () => {
    const other = MasterKey.generate();
    const others: [MasterKey, Partial<SealedRecord>][] = [
      [masterKey, { organizationId: randomUUID() }],
      [masterKey, { provider: 'openai2' }],
      [masterKey, { provider: 'openaI' }],
      [masterKey, { version: 8n }],
      [masterKey, { version: 70n }],
      [masterKey, { masterKeyId: other.id }],
      [other, {}],
      [other, { masterKeyId: other.id }],
    ];
    for (const [key, change] of others)
      assert.throws(() => openRecord(key, { ...record, ...change }), VaultTampered, inspect(change));
  });

  it('does not open once a single bit of it has changed, or an end of it is gone', () => {
    for (const part of ['wrappedKey', 'sealedKey'] as const) {
      const bytes = record[part];
      for (let bit = 0; bit < bytes.length * 8; bit += 1)
        assert.throws(() => openRecord(masterKey, { ...record, [part]: flipped(bytes, bit) }), VaultTampered);
      for (let length = 0; length < bytes.length; length += 1)
        assert.throws(
          () => openRecord(masterKey, { ...record, [part]: bytes.subarray(0, length) }),
          VaultTampered,
        );
    }
  });

  it('does not open with a part of another record of the same place', () => {
    const older = sealRecord(masterKey, place, 'sk-older');
    assert.throws(() => openRecord(masterKey, { ...record, sealedKey: older.sealedKey }), VaultTampered);
    assert.throws(() => openRecord(masterKey, { ...record, wrappedKey: older.wrappedKey }), VaultTampered);
    assert.throws(
      () => openRecord(masterKey, { ...record, wrappedKey: record.sealedKey, sealedKey: record.wrappedKey }),
      VaultTampered,
    );
  });

  it('holds nothing of the secret, and no two are alike', () => {
    const parts = new Set<string>();
    for (let index = 0; index < 1_000; index += 1) {
      const { wrappedKey, sealedKey } = sealRecord(masterKey, place, SECRET);
      for (const part of [wrappedKey, sealedKey]) {
        assert.ok(!part.includes(SECRET.slice(0, 8)));
        parts.add(part.toString('hex', 0, 12));
      }
    }
    // Every nonce is a new one, and so is every data key: what each seals first differs too.
    assert.equal(parts.size, 2_000);
  });

  it('is put under another master key without its sealed part changing', () => {
    const next = MasterKey.generate();
    const moved = rewrapRecord(masterKey, next, record);
    assert.deepEqual(moved.sealedKey, record.sealedKey);
    assert.equal(moved.masterKeyId, next.id);
    assert.equal(openRecord(next, moved), SECRET);
    assert.throws(() => openRecord(masterKey, moved), VaultTampered);
    assert.throws(
      () => rewrapRecord(masterKey, next, { ...record, sealedKey: flipped(record.sealedKey, 100) }),
      VaultTampered,
    );
  });
});

describe('what a record is bound to', () => {
  it('is never the same bytes for other fields', () => {
    const lists = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['', 'abc'], ['a', 'b', 'c'], ['é', 'c']];
    assert.equal(new Set(lists.map((fields) => bindingOf(...fields).toString('hex'))).size, lists.length);
  });
});

describe('a canary', () => {
  it('opens under its own master key and no other', () => {
    const canary = sealCanary(masterKey);
    checkCanary(masterKey, canary);
    assert.throws(() => checkCanary(MasterKey.generate(), canary), VaultTampered);
    assert.throws(() => checkCanary(masterKey, flipped(canary, 130)), VaultTampered);
  });
});

describe('a master key', () => {
  it('is read from its one spelling, and its id tells nothing but which one it is', () => {
    const text = masterKey.reveal();
    assert.match(text, /^[A-Za-z0-9+/]{43}=$/);
    const again = MasterKey.fromText(` ${text}\n`);
    assert.equal(again?.id, masterKey.id);
    assert.match(masterKey.id, /^[0-9a-f]{32}$/);
    assert.ok(!Buffer.from(text, 'base64').toString('hex').includes(masterKey.id.slice(0, 8)));
  });

  for (const text of [
    '',
    'secret',
    Buffer.alloc(31).toString('base64'),
    Buffer.alloc(33).toString('base64'),
    Buffer.alloc(32).toString('base64').slice(0, -1),
    // The same bytes with other spare bits.
    `${'A'.repeat(42)}B=`,
    Buffer.alloc(32, 0xff).toString('base64url'),
    Buffer.alloc(32).toString('hex'),
  ]) {
    it(`is not read from ${JSON.stringify(text)}`, () => assert.equal(MasterKey.fromText(text), undefined));
  }

  it('does not show itself', () => {
    const shown = [inspect(masterKey), JSON.stringify({ masterKey }), String(masterKey)].join(' ');
    assert.ok(!shown.includes(masterKey.reveal()));
    assert.match(shown, /\[secret\]/);
  });
});

describe('a key ring', () => {
  it('looks again for a key that it does not have, once for all who ask, and not again at once', async () => {
    const next = MasterKey.generate();
    let nowMs = 0;
    let looks = 0;
    let there: MasterKey[] = [];
    const errors: unknown[] = [];
    const ring = createKeyRing({
      keys: [masterKey],
      monotonicMs: () => nowMs,
      onError: (error) => errors.push(error),
      reload: async () => {
        looks += 1;
        if (looks === 2) throw new Error('the file is not readable');
        return there;
      },
    });
    assert.equal(await ring.find(masterKey.id), masterKey);
    assert.equal(looks, 0);
    const asked = await Promise.all(Array.from({ length: 50 }, () => ring.find(next.id)));
    assert.ok(asked.every((key) => key === undefined));
    assert.equal(looks, 1);
    there = [next];
    assert.equal(await ring.find(next.id), undefined);
    assert.equal(looks, 1);
    nowMs = 1_000;
    assert.equal(await ring.find(next.id), undefined);
    assert.equal(errors.length, 1);
    nowMs = 2_000;
    assert.equal(await ring.find(next.id), next);
    assert.equal(await ring.find(masterKey.id), masterKey, 'what was known is not forgotten');
  });

  it('finds each key of two rotations within a second, also while it reads the sources for the first', async () => {
    const [second, third] = [MasterKey.generate(), MasterKey.generate()];
    const readings: PromiseWithResolvers<readonly MasterKey[]>[] = [];
    const ring = createKeyRing({
      keys: [masterKey],
      monotonicMs: () => 0,
      onError: (error) => assert.fail(String(error)),
      reload: () => {
        const reading = Promise.withResolvers<readonly MasterKey[]>();
        readings.push(reading);
        return reading.promise;
      },
    });
    const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
    const findSecond = ring.find(second.id);
    await nextTurn();
    const findThird = ring.find(third.id);
    readings[0]?.resolve([second]);
    assert.equal(await findSecond, second);
    await nextTurn();
    readings[1]?.resolve([second, third]);
    assert.equal(await findThird, third);
    assert.equal(readings.length, 2);
  });
});
