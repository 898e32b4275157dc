import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expiryOf, expiryState } from './expiry.ts';

const NOW = new Date('2026-11-22T12:00:00Z');

describe('the expiry of a key', () => {
  it('is never, a number of days from now, or a time', () => {
    assert.deepEqual(expiryOf('never', '', NOW), { kind: 'never' });
    assert.deepEqual(expiryOf('30d', '', NOW), { kind: 'at', at: new Date('2026-12-22T12:00:00Z') });
    const at = (zone: string) => expiryOf('date', '2027-01-02T03:04', NOW, null, zone);
    assert.deepEqual(at('Asia/Karachi'), { kind: 'at', at: new Date('2027-01-01T22:04:00Z') });
    assert.deepEqual(at('UTC'), { kind: 'at', at: new Date('2027-01-02T03:04:00Z') });
  });

  it('can stay as it is', () => {
    const kept = '2027-01-01T00:00:00+00:00';
    assert.deepEqual(expiryOf('keep', '', NOW, kept), { kind: 'at', at: new Date(kept) });
    assert.deepEqual(expiryOf('keep', '', NOW, null), { kind: 'never' });
  });

  for (const date of ['', '2027-01-02', '2026-11-20T00:00', '9999-99-99T99:99', 'tomorrow'])
    it(`refuses ${JSON.stringify(date)}`, () => assert.equal(expiryOf('date', date, NOW).kind, 'problem'));

  it('is soon within a week, and over at its time', () => {
    assert.equal(expiryState(null, NOW), 'never');
    assert.equal(expiryState('2026-11-22T12:00:00+00:00', NOW), 'expired');
    assert.equal(expiryState('2026-11-29T12:00:00+00:00', NOW), 'soon');
    assert.equal(expiryState('2026-11-29T12:00:01+00:00', NOW), 'later');
  });
});
