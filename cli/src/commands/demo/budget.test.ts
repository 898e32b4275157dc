import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyId } from '@gatehouse/contract';
import { budgetOf } from './budget.ts';
import { addressesOf, KEYS } from './plan.ts';

const keys = KEYS.map(({ name }) => ({ id: name as KeyId, keyPrefix: '', secret: '', projectId: '' }));

describe('budgetOf', () => {
  it('deposits more than is spent and more than the limits come to, in whole hundreds', () => {
    for (const each of [0n, 1n, 333_333n, 7_654_321_987n]) {
      const spent = new Map(KEYS.map(({ name }) => [name, each]));
      const { deposits, limits, revokedKeyIds } = budgetOf({ keys }, spent);
      const deposited = deposits.reduce((sum, { amountMicroPkr }) => sum + amountMicroPkr, 0n);
      assert.ok(
        deposits.every(({ amountMicroPkr }) => amountMicroPkr > 0n && amountMicroPkr % 100_000_000n === 0n),
      );
      assert.ok(deposited > each * BigInt(KEYS.length));
      assert.ok(deposited >= limits.reduce((sum, { creditLimitMicroPkr }) => sum + creditLimitMicroPkr, 0n));
      // No key can have a limit of nothing, nor one below what it has spent.
      assert.equal(limits.length, each === 0n ? 0 : 4);
      assert.ok(limits.every(({ creditLimitMicroPkr }) => creditLimitMicroPkr >= each));
      assert.deepEqual(revokedKeyIds, ['Old integration']);
    }
  });

  it('leaves one key without any credit', () => {
    const { limits } = budgetOf({ keys }, new Map([['Notebook', 123_456_789n]]));
    assert.deepEqual(limits, [{ keyId: 'Notebook', creditLimitMicroPkr: 123_456_789n }]);
  });
});

describe('addressesOf', () => {
  it('makes addresses of any name', () => {
    for (const [name, domain] of [
      ['Demo Company', 'demo-company'],
      ['  Café №1! ', 'cafe-no1'],
      ['تجربة', 'demo'],
      [`${'x'.repeat(39)} y`, 'x'.repeat(39)],
    ] as const)
      assert.deepEqual(
        addressesOf(name),
        ['owner', 'ayesha', 'bilal'].map((local) => `${local}@${domain}.example`),
      );
  });
});
