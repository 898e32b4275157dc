import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REQUEST_COSTS } from './request-costs.ts';
import { type Demand, type Size, sizeFor, USUAL_DEMAND } from './size.ts';
import { figure, SIZE_LINES, sizeRows } from './size-lines.ts';

const at = (rate: number, more: Partial<Demand> = {}) => sizeFor({ ...USUAL_DEMAND, rate, ...more });

describe('the size for a rate', () => {
  it('is the cost of a request, times the rate, over the target', () => {
    const { postgresCores, walMbPerSecond, settlementGb, gatewayProcesses } = at(10_000, { streams: 0 });
    assert.equal(gatewayProcesses, Math.ceil((10_000 * REQUEST_COSTS.mainThreadJsonUs.value) / 1e6 / 0.6));
    assert.equal(
      postgresCores,
      (10_000 * (REQUEST_COSTS.postgresUs.value + REQUEST_COSTS.foldUs.value)) / 1e6 / 0.5,
    );
    assert.equal(walMbPerSecond, (10_000 * REQUEST_COSTS.walBytes.value) / 1e6);
    assert.equal(settlementGb, (10_000 * 7 * 3_600 * REQUEST_COSTS.settlementBytes.value) / 1e9);
  });

  it('adds up what goes to each store', () => {
    const { postgresNetworkBytes, clickhouseNetworkBytes, redisNetworkBytes } = REQUEST_COSTS;
    const bytes = postgresNetworkBytes.value + clickhouseNetworkBytes.value + redisNetworkBytes.value;
    assert.equal(at(10_000).storeMbitPerSecond, (10_000 * bytes * 8) / 1e6);
  });

  it('has two of everything that a request needs, however small the rate', () => {
    const { gatewayProcesses, gatewayNodes, apiNodes, databases } = at(1);
    assert.deepEqual([gatewayProcesses, gatewayNodes, apiNodes, databases], [2, 2, 2, 1]);
  });

  it('has a spare node', () => {
    const { gatewayProcesses, gatewayNodes } = at(10_000);
    assert.ok((gatewayNodes - 1) * 8 >= gatewayProcesses);
    assert.ok((gatewayNodes - 2) * 8 < gatewayProcesses);
  });

  it('splits organisations over primaries beyond 20,000 requests a second', () => {
    assert.deepEqual(
      [20_000, 20_001, 100_000].map((rate) => at(rate).databases),
      [1, 2, 5],
    );
  });

  it('grows with the rate in every figure', () => {
    const [small, large] = [at(500), at(50_000)];
    for (const [member] of SIZE_LINES.filter(([name]) => name !== 'apiNodes'))
      assert.ok(large[member] > small[member], member);
  });

  it('follows what is asked for', () => {
    assert.equal(at(100, { days: 30 }).clickhouseGb, at(100).clickhouseGb / 3);
    assert.equal(at(100, { mean: 1 }).clickhouseGbPerDay, at(100).clickhouseGbPerDay * 2);
    assert.ok(at(10_000, { streams: 1 }).gatewayProcesses > at(10_000, { streams: 0 }).gatewayProcesses);
    assert.equal(at(100, { bodyKb: 16 }).bodyMbitPerSecond, at(100).bodyMbitPerSecond * 2);
  });
});

describe('the lines of a size', () => {
  it('are all of its figures', () => {
    const names: (keyof Size)[] = SIZE_LINES.map(([member]) => member);
    assert.deepEqual(names.sort(), Object.keys(at(1)).sort());
    assert.equal(sizeRows([at(1), at(10)])[0]?.length, 3);
  });

  it('have two digits, and whole numbers all', () => {
    assert.deepEqual([0, 0.001, 0.0234, 0.5, 1.26, 9.96, 12.4, 99.7, 1_234.5, 20_000].map(figure), [
      '0',
      '<0.01',
      '0.023',
      '0.50',
      '1.3',
      '10.0',
      '12',
      '100',
      '1,235',
      '20,000',
    ]);
  });
});
