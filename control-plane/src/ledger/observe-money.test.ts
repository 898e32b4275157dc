import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Metrics } from '@gatehouse/observability';
import { createTestDatabase, runSql } from '@gatehouse/store/testing';
import { observeMoney } from './observe-money.ts';

describe('money in the metrics', () => {
  it('is read from the ledger every 15 seconds at most, and left out once it is a minute old', async () => {
    await using created = await createTestDatabase();
    const { database } = created;
    await runSql(database)`
      WITH o AS (INSERT INTO organizations (name, name_key) VALUES ('a', 'a'), ('b', 'b') RETURNING id)
      INSERT INTO balances (organization_id, deposited_micro_pkr, spent_micro_pkr, held_micro_pkr, unsettled_micro_pkr)
      SELECT id, 9000000, 2500000, 1000000, 1 FROM o`;
    const metrics = new Metrics();
    let nowMs = 0;
    let reads = 0;
    let isAway = false;
    const counted = {
      one: ((...call: Parameters<typeof database.one>) => {
        reads += 1;
        return isAway ? Promise.reject(new Error('away')) : database.one(...call);
      }) as typeof database.one,
    };
    observeMoney(metrics, counted, () => nowMs);
    const read = async () => (await metrics.collect()).map(({ series }) => series[0]?.[1]);
    assert.deepEqual(await read(), [18, 5, 2, 0.000002]);
    nowMs = 14_999;
    await read();
    assert.equal(reads, 1);
    nowMs = 15_000;
    isAway = true;
    assert.deepEqual(await read(), [18, 5, 2, 0.000002]);
    assert.equal(reads, 2);
    nowMs = 60_000;
    assert.deepEqual(await read(), [undefined, undefined, undefined, undefined]);
  });
});
