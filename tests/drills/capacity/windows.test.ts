import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProcessSample } from './process-samples.ts';
import { assessmentOf } from './soak-assessment.ts';
import type { SoakRun, SoakSample } from './soak-run.ts';
import { growthOf, median, type Point, peakGrowthOf } from './windows.ts';

const HOUR = 3_600;
const every10s = (value: (seconds: number) => number): Point[] =>
  Array.from({ length: 360 }, (_, index) => ({ seconds: index * 10, value: value(index * 10) }));

describe('the growth of a figure', () => {
  it('is that of the medians, whatever single samples show', () => {
    const saw = growthOf(
      every10s((seconds) => (seconds % 600 === 0 ? 900 : 300)),
      HOUR,
    );
    assert.deepEqual(saw, { before: 300, after: 300, share: 0 });
  });

  it('leaves the first ten minutes out', () => {
    const { share } = growthOf(
      every10s((seconds) => Math.min(seconds, 600)),
      HOUR,
    );
    assert.equal(share, 0);
  });

  it('is seen where it is slow', () => {
    // From 300 MB, 40 MB an hour.
    const { share } = growthOf(
      every10s((seconds) => 300 + (40 * seconds) / HOUR),
      HOUR,
    );
    assert.ok(share > 0.08 && share < 0.1, String(share));
  });

  it('is that of the highest values where something is removed again and again', () => {
    const saw = every10s((seconds) => seconds % 250);
    assert.equal(peakGrowthOf(saw, HOUR).share, 0);
    const rising = every10s((seconds) => (seconds % 250) + seconds);
    assert.ok(peakGrowthOf(rising, HOUR).share > 0.1);
  });

  it('has a median of an even number of values', () => {
    assert.equal(median([4, 1, 3, 2]), 2.5);
    assert.ok(Number.isNaN(median([])));
  });
});

const process = (residentBytes: number): ProcessSample => ({
  count: 1,
  residentBytes,
  privateBytes: residentBytes,
  sharedBytes: 0,
  descriptors: 40,
  cpuSeconds: 0,
});

function runOf(change: (sample: SoakSample, seconds: number) => Partial<SoakSample>): SoakRun {
  const samples = Array.from({ length: 361 }, (_, index): SoakSample => {
    const seconds = index * 10;
    const sample: SoakSample = {
      seconds,
      processes: {
        api: process(200e6),
        gateway: process(300e6),
        engine: process(400e6),
        postgres: process(60e6),
      },
      heaps: {},
      tables: { holds: { rows: 10, bytes: 5e6 }, settlements: { rows: 60_000, bytes: 9e6 } },
      connections: 9,
      walBytes: seconds * 1e5,
      databaseBytes: 1e7,
      engineTables: { 'telemetry.request_log': { rows: seconds * 100, bytes: seconds * 1e4, parts: 9 } },
      folders: { clickhouse: { files: 900, bytes: 1e8 } },
      sent: 1_000,
      leftOut: 0,
      answered: 1_000,
      wrong: 0,
      inFlight: 3,
      statuses: {},
      p50Ms: 10,
      p99Ms: 30,
    };
    return { ...sample, ...change(sample, seconds) };
  });
  const sums = { settled: 5, logged: 5, spentMicroPkr: '9', settledMicroPkr: '9', heldMicroPkr: '0' };
  return {
    totalSeconds: HOUR,
    keptSeconds: 600,
    rate: 100,
    capacity: 200,
    folded: 9,
    samples,
    sums,
    people: { 'sessions that stay': 10 },
    failures: [],
    missed: [],
    beforeSamples: 0,
  };
}

describe('the assessment of a soak', () => {
  const broken: Readonly<Record<string, [RegExp, SoakRun]>> = {
    'memory grows by a tenth': [
      /^gateway grew by 9\.\d %/,
      runOf(({ processes }, seconds) => ({
        processes: { ...processes, gateway: process(300e6 * (1 + (0.15 * seconds) / HOUR)) },
      })),
    ],
    'a table grows with the requests': [
      /^holds grew from/,
      runOf(({ tables }, seconds) => ({
        tables: { ...tables, holds: { rows: seconds, bytes: 1e4 * seconds } },
      })),
    ],
    'a table is unknown': [
      /^answers is not in kept-rows/,
      runOf(({ tables }) => ({ tables: { ...tables, answers: { rows: 0, bytes: 8_192 } } })),
    ],
    'an answer is wrong': [/^361 answers were not/, runOf(() => ({ wrong: 1 }))],
    'a request is lost': [
      /^5 requests are settled, 4/,
      { ...runOf(() => ({})), sums: { ...runOf(() => ({})).sums, logged: 4 } },
    ],
    'the engine keeps a log of its own': [
      /^the engine keeps system\.query_log/,
      runOf(({ engineTables }) => ({
        engineTables: { ...engineTables, 'system.query_log': { rows: 1, bytes: 1, parts: 1 } },
      })),
    ],
  };

  it('is good for a steady state', () => {
    assert.deepEqual(assessmentOf(runOf(() => ({}))).findings, []);
  });
  for (const [title, [finding, run]] of Object.entries(broken)) {
    it(`is bad when ${title}`, () => {
      const { findings } = assessmentOf(run);
      assert.equal(findings.length, 1, findings.join('; '));
      assert.match(findings[0] ?? '', finding);
    });
  }
});
