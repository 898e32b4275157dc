import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FORMATS } from './formats.ts';
import { readRows } from './read-rows.ts';

const SHA = 'a'.repeat(64);
const KEY = 'k'.repeat(48);
const OPTIONS = { usdPkr: 281.5, rateLimitCeilingRpm: 6_000 };

const read = (format: string, row: object) => {
  const [first] = readRows(JSON.stringify([row]));
  assert.ok(first);
  const key = FORMATS[format]?.(first, OPTIONS);
  assert.ok(key && !('leftOut' in key));
  return key;
};
const limitOf = (format: string, row: object) => read(format, row).creditLimitMicroPkr;

describe('the money of an imported key', () => {
  it('is exact in PKR, less what was spent', () => {
    for (const [row, limit] of [
      [{ credit_limit_pkr: 8.2 }, 8_200_000n],
      [{ credit_limit_pkr: '1000000000.000001' }, 1_000_000_000_000_001n],
      [{ credit_limit_pkr: 0.3, spent_pkr: 0.1 }, 200_000n],
      [{ credit_limit_pkr: 1, spent_pkr: 1 }, 1n],
      [{ credit_limit_pkr: 1, spent_pkr: 2 }, 1n],
      [{ credit_limit_pkr: 0 }, null],
      [{}, null],
    ] as const)
      assert.equal(limitOf('gatehouse', { sha256: SHA, ...row }), limit, JSON.stringify(row));
    assert.throws(
      () => limitOf('gatehouse', { sha256: SHA, credit_limit_pkr: 0.0000001 }),
      /at most 6 decimals/,
    );
  });

  it('is never more than it was in dollars', () => {
    for (const [row, limit] of [
      [{ max_budget: 8.2 }, 2_308_300_000n],
      [{ max_budget: 1, spend: 1e-7 }, 281_500_000n - 29n],
      [{ max_budget: 0 }, 1n],
      [{}, null],
    ] as const)
      assert.equal(limitOf('litellm', { token: SHA, ...row }), limit, JSON.stringify(row));
    assert.equal(limitOf('new-api', { key: KEY, remain_quota: 1 }), 563n);
    assert.equal(limitOf('new-api', { key: KEY, remain_quota: -5 }), 1n);
    assert.equal(limitOf('new-api', { key: KEY, unlimited_quota: true }), null);
    for (const row of [{ max_budget: 1e300 }, { max_budget: 1e12 }])
      assert.throws(() => limitOf('litellm', { token: SHA, ...row }), /max_budget is more than/);
  });
});

it('the end of an imported key is a time that there is', () => {
  const endOf = (expired_time: number) =>
    read('new-api', { key: KEY, unlimited_quota: true, expired_time }).expiresAt;
  assert.equal(endOf(1_800_000_000), '2027-01-15T08:00:00.000Z');
  assert.equal(endOf(-1), null);
  assert.throws(() => endOf(999_999_999_999_999), /expired_time is no time in seconds/);

  for (const [written, end] of [
    ['2030-01-01', '2030-01-01T00:00:00.000000+00:00'],
    ['2030-01-01 10:15', '2030-01-01T10:15:00.000000+00:00'],
    ['2030-01-01 10:15:30.123456789 UTC', '2030-01-01T10:15:30.123456+00:00'],
    ['2028-02-29T10:15:30+05', '2028-02-29T05:15:30.000000+00:00'],
    ['2030-01-01T10:15:30.5 -0530', '2030-01-01T15:45:30.500000+00:00'],
    ['2030-01-01T10:15:30+05:30', '2030-01-01T04:45:30.000000+00:00'],
  ])
    assert.equal(read('gatehouse', { sha256: SHA, expires_at: written }).expiresAt, end);
  for (const written of [
    '2030-02-30T00:00:00Z',
    '2030-06-31',
    '2029-02-29',
    '2030-01-01T24:00:00Z',
    '2030-01',
    '5',
  ])
    assert.throws(
      () => read('gatehouse', { sha256: SHA, expires_at: written }),
      /expires_at is no time such as/,
      written,
    );
});
