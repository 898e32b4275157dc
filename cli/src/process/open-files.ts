import { readFile } from 'node:fs/promises';

// How many files a process may have open, connections included. Node raises the soft limit to the hard one, which only
// the one who starts it can raise. Without enough, the engine refuses inserts, and rows stay in the journal.

// The engine had 399 open while it filled a request log of a million rows over 90 days, and each other process 40.
const MIN_WITH_ENGINE = 512;
const MIN_WITHOUT = 128;
const RECOMMENDED = 1_024;

const HOW_TO_RAISE =
  'raise it: ulimit -n 65536 before the start, LimitNOFILE=65536 of systemd, or --ulimit nofile=65536:65536 of a container';

/** The limit of this process; undefined where the system does not say. */
export async function openFilesLimit(): Promise<number | undefined> {
  const text = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const soft = /^Max open files +(\d+)/m.exec(text)?.[1];
  return soft === undefined ? undefined : Number(soft);
}

/** Why a service cannot run with this limit. */
export function openFilesIssues(
  limit: number | undefined,
  { clickhouseUrl }: { readonly clickhouseUrl?: unknown },
): string[] {
  const hasEngine = clickhouseUrl === undefined;
  const needed = hasEngine ? MIN_WITH_ENGINE : MIN_WITHOUT;
  if (limit === undefined || limit >= needed) return [];
  return [
    `The limit of open files is ${limit}, and ${hasEngine ? 'the embedded ClickHouse' : 'a process'} needs ${needed}; ${HOW_TO_RAISE}`,
  ];
}

/** Advice about a limit that suffices only for few connections. */
export function openFilesWarning(limit: number | undefined): string | undefined {
  if (limit === undefined || limit >= RECOMMENDED) return undefined;
  return `the limit of open files is ${limit}, and each connection takes one or two; ${HOW_TO_RAISE}`;
}
