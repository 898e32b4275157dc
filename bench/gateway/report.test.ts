import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { barsOf } from './bars.ts';
import type { CpuTimes } from './cpu.ts';
import type { LoadResult } from './load.ts';
import type { Kind } from './options.ts';
import { report } from './report.ts';
import { type Cell, median, Results } from './results.ts';

const result = (answers: number, p50: number, p99: number, firstP50?: number): LoadResult => ({
  answers,
  failed: 0,
  cut: 0,
  seconds: 2,
  p50,
  p99,
  ...(firstP50 === undefined ? {} : { firstP50 }),
});

const cell = (
  kind: Kind,
  connections: number,
  subject: string,
  round: LoadResult,
  cpu: CpuTimes[] = [],
): Cell => ({ kind, connections, subject, rounds: [round], cpu });

/** Everything that the bars need; Gatehouse as given. */
const results = (ours: { perSecond: number; mainThreadUs: number; addedUs: number }) =>
  new Results([
    cell('json', 1, 'provider', result(20_000, 100, 200)),
    cell('json', 1, 'Portkey', result(2_000, 900, 3_000)),
    cell('json', 1, 'Gatehouse', result(2_000, 100 + ours.addedUs, 2_000)),
    cell('json', 64, 'provider', result(100_000, 500, 1_000)),
    cell('json', 64, 'Portkey', result(2_000, 60_000, 90_000)),
    cell('json', 64, 'Gatehouse', result(2 * ours.perSecond, 9_000, 20_000), [
      new Map([
        ['main thread', 2 * ours.perSecond * ours.mainThreadUs],
        ['PostgreSQL', 2 * ours.perSecond * 30],
      ]),
    ]),
    cell('sse', 1, 'provider', result(2_000, 400, 900, 100)),
    cell('sse', 1, 'Gatehouse', result(1_000, 1_000, 2_000, 550)),
  ]);
const good = results({ perSecond: 5_000, mainThreadUs: 90, addedUs: 400 });
const conditions = { processors: 2, busyBefore: 0 };

describe('the report of the gateway benchmark', () => {
  it('takes the middle round, or the mean of the two in the middle', () => {
    assert.equal(median([5, 1, 3]), 3);
    assert.equal(median([4, 1, 3, 2]), 2.5);
    assert.ok(Number.isNaN(median([])));
  });

  it('holds Gatehouse to each bar, with the figure', () => {
    assert.deepEqual(
      barsOf(good).map(({ figure, isMet }) => `${figure} ${isMet}`),
      [
        '5.00 times true',
        '0.40 ms true',
        '0.40 ms true',
        '20.00 ms true',
        '0.45 ms true',
        '90 µs true',
        '30 µs true',
      ],
    );
    assert.deepEqual(
      barsOf(results({ perSecond: 4_990, mainThreadUs: 101, addedUs: 850 }))
        .filter(({ isMet }) => !isMet)
        .map(({ figure }) => figure),
      ['4.99 times', '0.85 ms', '0.85 ms', '101 µs'],
    );
  });

  it('calls a bar not measured when something that it needs is missing', () => {
    const alone = new Results(good.cells.filter(({ subject }) => subject !== 'Portkey'));
    assert.deepEqual(
      barsOf(alone).map(({ figure }) => figure === undefined),
      [true, false, true, true, false, false, false],
    );
    assert.match(report(alone, [], conditions, false), /beside Portkey .*not measured/);
  });

  it('prints tables with every figure, its ratio, the calibration and the checks', () => {
    const text = report(good, [{ name: 'sums', isRight: false, detail: '1 and 2 µPKR' }], conditions, true);
    assert.match(
      text,
      /^\| connections \| figure \| provider \| Portkey \| Gatehouse \| Gatehouse \/ Portkey \|$/m,
    );
    assert.match(text, /^\| 64 \| requests\/s \| 50000 \| 1000 \| 5000 \| 5\.00 \|$/m);
    assert.match(text, /^\| 1 \| added p50 ms \| {2}\| 0\.80 \| 0\.40 \| {2}\|$/m);
    assert.match(text, /^\| 1 \| added first token ms \| {2}\| {2}\| 0\.45 \| {2}\|$/m);
    assert.match(text, /^\| main thread \| 90 \|$/m);
    assert.match(text, /^\| Portkey, requests\/s at 64 connections \| 1705 \| 1000 \| 0\.59 \|$/m);
    assert.match(text, /^\| sums \| WRONG \| 1 and 2 µPKR \|$/m);
    assert.match(
      text,
      /^\| requests\/s at 64 connections, beside Portkey \| at least 5 times \| 5\.00 times \| met \|$/m,
    );
  });

  it('warns when other programs were running', () => {
    assert.doesNotMatch(report(good, [], conditions, false), /Other programs/);
    assert.match(report(good, [], { ...conditions, busyBefore: 0.4 }, false), /40 % busy.*Other programs/);
  });

  it('has beside each bar what any gateway in Node must pay', () => {
    const cpu = new Map([
      ['main thread', 60 * 8_000],
      ['PostgreSQL', 0],
    ] as const);
    const text = report(
      new Results([
        ...good.cells,
        cell('json', 1, 'Node', result(9_000, 250, 900)),
        cell('json', 64, 'Node', result(8_000, 9_000, 20_000), [cpu]),
        cell('json', 64, 'Node and PostgreSQL', result(6_000, 9_000, 20_000), [cpu]),
      ]),
      [],
      conditions,
      true,
    );
    assert.match(text, /^\| bar \| limit \| here \| result \| Node \| Node and PostgreSQL \|$/m);
    assert.match(text, /^\| requests\/s at 64 .* \| met \| 4\.00 times \| 3\.00 times \|$/m);
    assert.match(text, /^\| added p50 at 1 connection \| below 0\.5 ms \| .* \| 0\.15 ms \| {2}\|$/m);
    assert.match(text, /^\| main thread per request .* \| met \| 60 µs \| 80 µs \|$/m);
    assert.match(text, /^\| main thread \| 90 \| 60 \| 80 \|$/m);
    assert.match(text, / Gatehouse \/ Portkey \| Gatehouse \/ Node and PostgreSQL \|$/m);
  });

  it('compares two numbers of processes', () => {
    const both = new Results([
      ...good.cells,
      cell('json', 64, 'Gatehouse, 2 processes', result(15_000, 5_000, 9_000)),
    ]);
    assert.match(report(both, [], conditions, true), /\| Gatehouse, 2 processes \/ Gatehouse \|/);
    assert.match(report(both, [], conditions, true), /^\| 64 \| requests\/s .* \| 1\.50 \|$/m);
  });
});
