import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';
import type { Role } from '../config/config.ts';
import { VERSION } from '../terminal/version.ts';
import { LogQueue, logFile, MAX_WRITE_BYTES } from './log-queue.ts';
import { readableLine } from './readable-line.ts';

// The log is standard output, one JSON object per line where that is a file or a pipe. The service and its gateway process
// write to the same one, whole lines with each call.
const TEXT_LIMITS = [1_000, 250, 50];

/** The origin of a line. */
export interface LogSource {
  readonly role: Role;
  /** The number of a gateway process, where there are several. */
  readonly process?: number;
}

/**
 * Opens the log: JSON, or readable lines on a terminal. A full disk loses lines and does not stop the service; `onError`
 * gets the error. Lines are written in the background: a synchronous write waits on the main thread for a slow reader,
 * 100 ms at a time. What is still queued when the process exits is written then. Every line says where it comes from.
 */
export function openLog(
  level: string,
  onError: (error: Error) => void,
  { role, ...more }: LogSource,
): Logger {
  const queue = new LogQueue(logFile(1), onError);
  process.once('exit', () => queue.flushAtExit());
  const base = { service: 'gatehouse', version: VERSION, role, ...more };
  return pino({ level, base, hooks: { streamWrite: isatty(1) ? readableLine : bounded } }, queue);
}

/** The line itself, or one with shortened texts that can be written atomically. */
export function bounded(line: string): string {
  if (fits(line)) return line;
  const entry = JSON.parse(line) as Record<string, unknown>;
  for (const limit of TEXT_LIMITS) {
    const cut = (_: string, value: unknown) =>
      typeof value === 'string' && value.length > limit ? `${value.slice(0, limit)} ...` : value;
    const shorter = `${JSON.stringify({ ...entry, is_cut: true }, cut)}\n`;
    if (fits(shorter)) return shorter;
  }
  const { level, time, service, version, role, event, request_id, msg } = entry;
  const head = Object.entries({ level, time, service, version, role, event, request_id, msg })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, typeof value === 'string' ? value.slice(0, 100) : value]);
  return `${JSON.stringify({ ...Object.fromEntries(head), is_cut: true })}\n`;
}

function fits(line: string): boolean {
  return Buffer.byteLength(line) <= MAX_WRITE_BYTES;
}
