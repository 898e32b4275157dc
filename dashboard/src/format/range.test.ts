import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRange, rangeMs, rangeQuery, rangeSearch } from './range.ts';
import { rangeLabel } from './range-label.ts';

describe('the range in a URL', () => {
  it('is relative or fixed', () => {
    assert.deepEqual(parseRange({ range: '7d' }), { kind: 'relative', text: '7d' });
    const fixed = parseRange({ from: '2026-11-20T05:00:00+05:00', to: '2026-11-21T00:00:00Z' });
    assert.deepEqual(fixed, {
      kind: 'fixed',
      from: '2026-11-20T00:00:00.000Z',
      to: '2026-11-21T00:00:00.000Z',
    });
    assert.equal(rangeMs(fixed as NonNullable<typeof fixed>, 0), 86_400_000);
  });

  it('survives the way to the URL and back', () => {
    for (const search of [{ range: '15m' }, { from: '2026-11-20T00:00:00.000Z' }])
      assert.deepEqual(rangeSearch(parseRange(search) ?? { kind: 'relative', text: '' }), search);
    assert.deepEqual(rangeQuery({ kind: 'relative', text: '15m' }), { time_range: '15m' });
  });

  it('counts as absent where it is invalid', () => {
    const invalid = [
      {},
      { range: '7w' },
      { range: '-1d' },
      { range: '99999d' },
      { range: '1e3d' },
      { range: ['7d'] },
    ];
    for (const search of invalid) assert.equal(parseRange(search), undefined);
    assert.equal(parseRange({ from: '2026-11-20' }), undefined);
    assert.equal(parseRange({ from: '2026-11-20T25:00:00Z' }), undefined);
    assert.equal(parseRange({ from: '2026-11-21T00:00:00Z', to: '2026-11-20T00:00:00Z' }), undefined);
  });

  it('has a label', () => {
    const now = new Date('2026-11-22T19:47:06Z');
    assert.equal(rangeLabel({ kind: 'relative', text: '24h' }, now), 'Last 24 hours');
    assert.equal(rangeLabel({ kind: 'relative', text: '45m' }, now), 'Last 45 minutes');
    const fixed = { kind: 'fixed', from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z' } as const;
    assert.equal(rangeLabel(fixed, now, 'Asia/Karachi'), '20 Nov, 05:00 – 21 Nov, 05:00');
  });
});
