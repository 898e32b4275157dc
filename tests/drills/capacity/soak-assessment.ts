import { KEPT_TABLES } from './kept-rows.ts';
import type { SoakRun, SoakSample } from './soak-run.ts';
import { type Growth, growthOf, LATE, type Point, peakGrowthOf, valuesIn } from './windows.ts';

// A steady state in numbers. Each finding is a promise that was broken.

const MEMORY_GROWTH = 0.05;
/** The shared memory of the embedded server: 48 MB of buffers, and the rest. */
const SHARED_BYTES = 80e6;
const DESCRIPTORS = 32;
const SIZE_GROWTH = 0.1;
const SIZE_SLACK_BYTES = 256 * 1024;
/** More than a row of any of these tables takes with its indexes. */
const ROW_BYTES = 600;
/** A gateway process seals a segment every second; after a pause, two. */
const SEGMENTS_PER_SECOND = 2;

export interface Line extends Growth {
  readonly name: string;
  readonly unit: 'MB' | 'files' | 'rows';
}

export interface SoakAssessment {
  readonly memory: readonly Line[];
  readonly sizes: readonly Line[];
  readonly findings: readonly string[];
}

export function assessmentOf(run: SoakRun): SoakAssessment {
  const findings: string[] = [];
  const { samples, totalSeconds } = run;
  const pointsOf = (value: (sample: SoakSample) => number | undefined): Point[] =>
    samples.flatMap((sample) => {
      const found = value(sample);
      return found === undefined ? [] : [{ seconds: sample.seconds, value: found }];
    });
  const check = (isKept: boolean, finding: string) => {
    if (!isKept) findings.push(finding);
  };

  const memory = (['api', 'gateway', 'engine', 'postgres'] as const).map((name): Line => {
    const isPostgres = name === 'postgres';
    const growth = growthOf(
      pointsOf(({ processes }) =>
        isPostgres ? processes[name]?.privateBytes : processes[name]?.residentBytes,
      ),
      totalSeconds,
    );
    check(growth.share <= MEMORY_GROWTH, `${name} grew by ${percent(growth.share)} after its first minutes`);
    const descriptors = growthOf(
      pointsOf(({ processes }) => processes[name]?.descriptors),
      totalSeconds,
    );
    check(
      descriptors.after <= descriptors.before * (1 + SIZE_GROWTH) + DESCRIPTORS,
      `${name} went from ${descriptors.before} to ${descriptors.after} open files`,
    );
    return { name: isPostgres ? 'postgres, private' : `${name}, resident`, unit: 'MB', ...growth };
  });
  const shared = Math.max(
    ...valuesIn(
      pointsOf(({ processes }) => processes.postgres?.sharedBytes),
      totalSeconds,
      LATE,
    ),
  );
  check(shared <= SHARED_BYTES, `PostgreSQL shares ${shared} bytes`);

  const sizes = [
    ...tables(run, pointsOf, check),
    ...(['journal', 'clickhouse', 'postgres/pg_wal', 'postgres/base', 'all'] as const).map(
      (folder): Line => ({
        name: folder === 'all' ? 'data directory' : folder,
        unit: 'MB',
        ...peakGrowthOf(
          pointsOf((sample) => sample.folders?.[folder]?.bytes),
          totalSeconds,
        ),
      }),
    ),
    {
      name: 'clickhouse, files',
      unit: 'files' as const,
      ...peakGrowthOf(
        pointsOf((sample) => sample.folders?.['clickhouse']?.files),
        totalSeconds,
      ),
    },
  ];
  const engine = sizes.find(({ name }) => name === 'clickhouse, files');
  check((engine?.share ?? 0) <= SIZE_GROWTH, `the engine has ${percent(engine?.share ?? 0)} more files`);
  checkRequests(run, check);
  return { memory, sizes, findings };
}

type Check = (isKept: boolean, finding: string) => void;
type PointsOf = (value: (sample: SoakSample) => number | undefined) => Point[];

function tables(run: SoakRun, pointsOf: PointsOf, check: Check): Line[] {
  const { samples, totalSeconds, people } = run;
  const known = new Set(KEPT_TABLES.map(({ table }) => table));
  const times = (name: string) => people[name] ?? 0;
  const calls = Object.values(people).reduce((sum, one) => sum + one, 0);
  // The people's actions in the time.
  const allowed: Readonly<Record<string, number>> = {
    journal_positions: SEGMENTS_PER_SECOND * totalSeconds,
    activity_events: 3 * calls,
    api_keys: times('keys minted, changed and revoked'),
    sessions: times('sessions that stay') + times('sign-ins and sign-outs'),
  };
  const last = samples.at(-1);
  return Object.keys(last?.tables ?? {}).flatMap((table) => {
    check(known.has(table), `${table} is not in kept-rows.ts`);
    const rows = peakGrowthOf(
      pointsOf((sample) => sample.tables[table]?.rows),
      totalSeconds,
    );
    const bytes = peakGrowthOf(
      pointsOf((sample) => sample.tables[table]?.bytes),
      totalSeconds,
    );
    const more = allowed[table] ?? 0;
    const most = bytes.before * (1 + SIZE_GROWTH) + SIZE_SLACK_BYTES + more * ROW_BYTES;
    check(
      bytes.after <= most,
      `${table} grew from ${bytes.before} to ${bytes.after} bytes (${rows.before} to ${rows.after} rows)`,
    );
    // The others are too small to say anything.
    if (bytes.after < SIZE_SLACK_BYTES && more === 0) return [];
    return [
      { name: table, unit: 'MB' as const, ...bytes },
      { name: `${table}, rows`, unit: 'rows' as const, ...rows },
    ];
  });
}

function checkRequests({ samples, sums, failures, totalSeconds }: SoakRun, check: Check): void {
  const wrong = samples.reduce((sum, one) => sum + one.wrong, 0);
  check(wrong === 0, `${wrong} answers were not what the request should get`);
  check(failures.length === 0, `calls of people failed: ${failures.slice(0, 3).join('; ')}`);
  check(sums.settled === sums.logged, `${sums.settled} requests are settled, ${sums.logged} are in the log`);
  check(sums.spentMicroPkr === sums.settledMicroPkr, 'what is spent is not what was settled');
  check(sums.heldMicroPkr === '0', `${sums.heldMicroPkr} micro-PKR are still held`);
  check((samples.at(-1)?.seconds ?? 0) >= totalSeconds * 0.9, 'the samples end early');
  for (const table of Object.keys(samples.at(-1)?.engineTables ?? {}))
    check(table.startsWith('telemetry.'), `the engine keeps ${table}`);
}

export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
