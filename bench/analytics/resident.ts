import { readFileSync } from 'node:fs';

const EVERY_MS = 50;

/** The memory that a process holds, in bytes. Linux only. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** Watches what processes hold until it is disposed of. */
export function watchResident(pids: readonly number[]): Disposable & { readonly peaks: () => number[] } {
  const peaks = pids.map(residentBytes);
  const timer = setInterval(() => {
    for (const [index, pid] of pids.entries()) peaks[index] = Math.max(peaks[index] ?? 0, residentBytes(pid));
  }, EVERY_MS);
  return {
    peaks: () => [...peaks],
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
