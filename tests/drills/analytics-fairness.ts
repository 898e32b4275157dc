import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Latencies, runCrowd } from './analytics-crowd.ts';

// Two hundred heavy queries of one organisation at once, in waves, while another organisation works as usual.
//
//   node tests/drills/analytics-fairness.ts [rows] [waves]

const rows = Number(process.argv[2] ?? 1_500_000);
const waves = Number(process.argv[3] ?? 3);
const directory = await mkdtemp(join(tmpdir(), 'gatehouse-fairness-'));
try {
  const report = await runCrowd(join(directory, 'data'), { rows, crowd: 200, waves });
  const at = (sorted: readonly number[], share: number) =>
    (sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN).toFixed(0);
  for (const name of ['summary', 'listKeys', 'login'] as const) {
    const told = (of: Latencies) =>
      `p50 ${at(of[name], 0.5)} ms, p99 ${at(of[name], 0.99)} ms (${of[name].length})`;
    process.stdout.write(`${name}: alone ${told(report.quiet)}; beside the crowd ${told(report.crowded)}\n`);
  }
  const statuses = [...report.statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  const seconds = report.waveMs.map((ms) => (ms / 1000).toFixed(1)).join(', ');
  process.stdout.write(`the crowd's answers: ${statuses}; waves of 200 took ${seconds} s\n`);
} finally {
  await rm(directory, { recursive: true, force: true });
}
