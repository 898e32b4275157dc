import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aliasTable } from './alias-table.ts';

describe('aliasTable', () => {
  it('gives each thing its share, and what has no weight nothing', () => {
    for (const weights of [
      [1],
      [3, 1],
      [0, 2, 0],
      [1, 1, 1],
      [5, 0, 0.001, 1, 94, 0, 7],
      [0, 0, 1e-9, 1e9],
    ]) {
      const { chances, others } = aliasTable(weights);
      const shares = weights.map(() => 0);
      for (const [place, chance] of chances.entries()) {
        const other = others[place] as number;
        shares[place] = (shares[place] as number) + chance / weights.length;
        shares[other] = (shares[other] as number) + (1 - chance) / weights.length;
      }
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      for (const [place, weight] of weights.entries()) {
        assert.ok(
          Math.abs((shares[place] as number) - weight / total) < 1e-9,
          JSON.stringify({ weights, shares }),
        );
        if (weight === 0) assert.equal(shares[place], 0);
      }
    }
  });
});
