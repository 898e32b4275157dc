import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runKeyChanges } from './key-drill.ts';

describe('changes of one organisation’s keys from many clients over two processes', () => {
  it('are explained by one order, each answer of them', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-keys-'));
    try {
      const { checked } = await runKeyChanges(join(directory, 'data'), {
        requests: 600,
        clients: 24,
        seed: 20_261_120,
      });
      assert.equal(checked.changes + checked.refusals, 600);
      assert.ok(checked.changes > 200 && checked.byBudget > 20, JSON.stringify(checked));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
