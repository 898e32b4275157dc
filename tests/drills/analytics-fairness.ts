import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Latencies, runCrowd } from './analytics-crowd.ts';
import type { Drill } from './drill.ts';

// Two hundred heavy queries of one organisation at once, in waves, while another organisation works as usual.

const ROWS = 1_500_000;

export const drill: Drill = async ({ cycles: waves, log }) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-fairness-'));
  try {
    const report = await runCrowd(join(directory, 'data'), { rows: ROWS, crowd: 200, waves });
    const at = (sorted: readonly number[], share: number) =>
      (sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN).toFixed(0);
    for (const name of ['summary', 'listKeys', 'login'] as const) {
      const latencies = (of: Latencies) =>
        `p50 ${at(of[name], 0.5)} ms, p99 ${at(of[name], 0.99)} ms (${of[name].length})`;
      log(`${name}: quiet ${latencies(report.quiet)}; during the waves ${latencies(report.crowded)}`);
    }
    const statuses = [...report.statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
    const seconds = report.waveMs.map((ms) => (ms / 1000).toFixed(1)).join(', ');
    log(`answers to the heavy queries: ${statuses}; waves of 200 took ${seconds} s`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return [];
};
