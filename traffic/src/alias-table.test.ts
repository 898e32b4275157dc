import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aliasTable } from './alias-table.ts';

describe('aliasTable', () => {
  it('draws each index by its weight, and never one of weight 0', () => {
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
      for (const [index, chance] of chances.entries()) {
        const other = others[index] as number;
        shares[index] = (shares[index] as number) + chance / weights.length;
        shares[other] = (shares[other] as number) + (1 - chance) / weights.length;
      }
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      for (const [index, weight] of weights.entries()) {
        assert.ok(
          Math.abs((shares[index] as number) - weight / total) < 1e-9,
          JSON.stringify({ weights, shares }),
        );
        if (weight === 0) assert.equal(shares[index], 0);
      }
    }
  });
});
