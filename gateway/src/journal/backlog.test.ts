import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Backlog } from './backlog.ts';
import { Segment } from './segment.ts';

const NOW_MS = 1_000_000;

const segment = (sequence: number, ageMs: number, length: number) =>
  new Segment({
    directory: '/nowhere',
    origin: '00000000-0000-0000-0000-000000000000',
    sequence,
    records: length / 10,
    length,
    isOpen: true,
    pendingSinks: ['ledger', 'telemetry'],
    sinceMs: NOW_MS - ageMs,
  });

describe('the backlog of a sink', () => {
  it('has the bytes, segments and age of what the sink lacks', () => {
    const backlog = new Backlog();
    const older = segment(1, 60_000, 100);
    const newer = segment(2, 5_000, 50);
    backlog.add(older);
    backlog.add(newer);
    const telemetry = { records: 15, bytes: 150, segments: 2, oldestMs: 60_000 };
    assert.deepEqual(backlog.pendingAt('ledger', NOW_MS), telemetry);
    // The ledger has read all of the older one a second ago, and half of the newer one.
    Object.assign(older, { ledgerOffset: 100, ledgerRecords: 10, ledgerSinceMs: NOW_MS - 1_000 });
    Object.assign(newer, { ledgerOffset: 25, ledgerRecords: 2, ledgerSinceMs: NOW_MS - 1_000 });
    assert.deepEqual(backlog.pendingAt('ledger', NOW_MS), {
      records: 3,
      bytes: 25,
      segments: 2,
      oldestMs: 1_000,
    });
    assert.deepEqual(backlog.pendingAt('telemetry', NOW_MS), telemetry);
  });

  it('has no age where the sink has all', () => {
    const backlog = new Backlog();
    const one = segment(1, 60_000, 100);
    backlog.add(one);
    Object.assign(one, { ledgerOffset: 100, ledgerRecords: 10 });
    assert.deepEqual(backlog.pendingAt('ledger', NOW_MS), { records: 0, bytes: 0, segments: 1, oldestMs: 0 });
  });
});
