import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import type { Drill } from './drill.ts';
import { runFallbacks } from './fallback-requests.ts';

// Requests to three targets that fail at random: none fails that could have been served, none is billed twice, and the money is
// exact.

export const drill: Drill = async ({ cycles: requests, seed, log }) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-fallbacks-'));
  try {
    await using postgres = await openEmbeddedPostgres({ dataDir: directory });
    process.env['GATEHOUSE_TEST_SERVERS'] = JSON.stringify({ postgres: postgres.connection });
    const startedMs = performance.now();
    const { served, rescued, cut, failed, attempts, spentMicroPkr } = await runFallbacks(requests, seed);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
    log(
      `${requests} requests of seed ${seed} in ${seconds} s, ${attempts} attempts: ${served} served, ${rescued} of them by another target; ${failed} failed at all three, ${cut} broke after content; ${spentMicroPkr} micro-PKR spent, each paid once`,
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return [];
};
