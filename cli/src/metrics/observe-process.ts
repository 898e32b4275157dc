import { readFile } from 'node:fs/promises';
import { type Metrics, postgresMetrics, processMetrics } from '@gatehouse/observability';
import type { Database } from '@gatehouse/store';
import { VERSION } from '../terminal/version.ts';

/** Reports at each scrape what every process has: its version, and its pool of connections to PostgreSQL. */
export function observeProcess(metrics: Metrics, database: Pick<Database, 'usage'>): void {
  metrics.observe(processMetrics.buildInfo, (report) => report(1, VERSION, process.versions.node));
  metrics.observe(postgresMetrics.connections, (report) => {
    const { busy, idle } = database.usage();
    report(busy, 'busy');
    report(idle, 'idle');
  });
  metrics.observe(postgresMetrics.waiting, (report) => report(database.usage().waiting));
  metrics.observe(postgresMetrics.errors, (report) => {
    const { unavailable, rejected } = database.usage().errors;
    report(unavailable, 'unavailable');
    report(rejected, 'rejected');
  });
}

/** Reports at each scrape whether the embedded engine answers, and its memory. `enginePid` is null while none does. */
export function observeEngine(metrics: Metrics, enginePid: () => number | null): void {
  let residentBytes: number | undefined;
  metrics.prepare(async () => {
    const pid = enginePid();
    residentBytes = pid === null ? undefined : await residentBytesOf(pid);
  });
  metrics.observe(processMetrics.engineUp, (report) => report(Number(enginePid() !== null)));
  metrics.observe(processMetrics.engineMemory, (report) => report(residentBytes));
}

/** Undefined where the system does not say, as elsewhere than on Linux. */
async function residentBytesOf(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}
