import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duration, roughDuration } from './duration.ts';

describe('durations', () => {
  it('has a unit that fits', () => {
    const cases: readonly (readonly [number, string])[] = [
      [0, '0 ms'],
      [0.42, '0.4 ms'],
      [84.4, '84 ms'],
      [999.6, '1 s'],
      [1994.752, '1.99 s'],
      [12_340, '12.3 s'],
      [59_960, '1 min'],
      [125_000, '2 min 5 s'],
      [3_600_000, '1 h'],
      [11_400_000, '3 h 10 min'],
      [352_800_000, '4 d 2 h'],
      [-84, '−84 ms'],
    ];
    for (const [ms, text] of cases) assert.equal(duration(ms), text);
  });

  it('is rough where it is a forecast', () => {
    assert.equal(roughDuration(600_000), 'less than an hour');
    assert.equal(roughDuration(3_600_000), 'about 1 hour');
    assert.equal(roughDuration(16.2 * 86_400_000), 'about 16 days');
    assert.equal(roughDuration(100 * 86_400_000), 'about 3 months');
    assert.equal(roughDuration(4000 * 86_400_000), 'more than a year');
  });
});
