import { assessmentOf, type Line, percent } from './soak-assessment.ts';
import type { SoakRun } from './soak-run.ts';
import { EARLY, LATE, median, type Point, valuesIn } from './windows.ts';

// The report of a soak, in Markdown.

export interface SoakReport {
  readonly text: string;
  readonly findings: readonly string[];
}

export function reportOf(run: SoakRun): SoakReport {
  const { memory, sizes, findings } = assessmentOf(run);
  const sections = [
    headOf(run),
    table(['memory, median', 'minutes 10 to 20 of 60', 'the last ten', 'growth'], memory.map(cells)),
    heapsOf(run),
    table(['kept, at most', 'minutes 20 to 50 of 60', 'the last ten', 'growth'], sizes.map(cells)),
    costsOf(run),
    findings.length === 0 ? 'Steady.' : `Broken:\n${findings.map((one) => `- ${one}`).join('\n')}`,
  ];
  return { text: `${sections.join('\n\n')}\n`, findings };
}

function headOf({
  samples,
  rate,
  capacity,
  totalSeconds,
  people,
  sums,
  keptSeconds,
  folded,
}: SoakRun): string {
  const total = (value: (sample: SoakRun['samples'][number]) => number) =>
    samples.reduce((sum, one) => sum + value(one), 0);
  const { p50Ms, p99Ms } = {
    p50Ms: median(samples.map((one) => one.p50Ms)),
    p99Ms: median(samples.map((one) => one.p99Ms)),
  };
  return [
    `${(totalSeconds / 60).toFixed(0)} minutes at ${rate} requests/s; the ramp before reached ${capacity}.`,
    `${total((one) => one.answered)} answers, ${total((one) => one.wrong)} wrong, ${total((one) => one.leftOut)} arrivals left out; p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms (medians of ten seconds).`,
    `${sums.settled} settled, ${sums.logged} in the request log; ${folded} folded after ${keptSeconds} s.`,
    `People: ${Object.entries(people)
      .map(([name, times]) => `${times} ${name}`)
      .join(', ')}.`,
  ].join('\n');
}

function heapsOf({ samples, totalSeconds }: SoakRun): string {
  const processes = Object.keys(samples.at(-1)?.heaps ?? {});
  const rows = processes.flatMap((process) => {
    const points = (member: 'oldBytes' | 'externalBytes' | 'usedBytes'): Point[] =>
      samples.map(({ seconds, heaps }) => ({ seconds, value: heaps[process]?.[member] ?? Number.NaN }));
    // The least of a window is what a collection left.
    const least = (member: 'oldBytes' | 'externalBytes' | 'usedBytes', window: typeof EARLY) =>
      mb(Math.min(...valuesIn(points(member), totalSeconds, window)));
    const collections =
      (samples.at(-1)?.heaps[process]?.majorCollections ?? 0) -
      (samples[0]?.heaps[process]?.majorCollections ?? 0);
    return [
      [
        `${process}: old generation`,
        least('oldBytes', EARLY),
        least('oldBytes', LATE),
        `${collections} major collections`,
      ],
      [`${process}: heap`, least('usedBytes', EARLY), least('usedBytes', LATE), ''],
      [`${process}: external`, least('externalBytes', EARLY), least('externalBytes', LATE), ''],
    ];
  });
  return table(['least of a window, MB', 'minutes 10 to 20 of 60', 'the last ten', ''], rows);
}

/** The cost of a request in the last two thirds, with everything that happened beside it. */
function costsOf({ samples, totalSeconds }: SoakRun): string {
  const first = samples.find(({ seconds }) => seconds >= totalSeconds / 3);
  const last = samples.at(-1);
  if (first === undefined || last === undefined || first === last) return '';
  const requests = samples
    .filter(({ seconds }) => seconds > first.seconds)
    .reduce((sum, one) => sum + one.sent, 0);
  const seconds = last.seconds - first.seconds;
  const each = (name: keyof typeof last.processes) => {
    const used = (last.processes[name]?.cpuSeconds ?? 0) - (first.processes[name]?.cpuSeconds ?? 0);
    return [
      `${name}: CPU`,
      `${((used * 1e6) / requests).toFixed(0)} µs`,
      `${(used / seconds).toFixed(3)} cores`,
    ];
  };
  const log = 'telemetry.request_log';
  const [before, after] = [first.engineTables[log], last.engineTables[log]];
  const logBytes = (after?.bytes ?? 0) / (after?.rows ?? Number.NaN);
  const positions = last.tables['journal_positions'];
  return table(
    ['cost', 'of a request', 'together'],
    [
      each('gateway'),
      each('api'),
      each('postgres'),
      each('engine'),
      ['WAL', `${((last.walBytes - first.walBytes) / requests).toFixed(0)} bytes`, ''],
      [
        'request log',
        `${logBytes.toFixed(1)} bytes a row`,
        `${(after?.rows ?? 0) - (before?.rows ?? 0)} rows`,
      ],
      [
        'journal_positions',
        `${((positions?.bytes ?? 0) / (positions?.rows ?? Number.NaN)).toFixed(0)} bytes a row`,
        `${positions?.rows ?? 0} rows`,
      ],
    ],
  );
}

const mb = (bytes: number) => (bytes / 1e6).toFixed(1);

const cells = ({ name, unit, before, after, share }: Line) => {
  const write = (value: number) => (unit === 'MB' ? `${mb(value)} MB` : value.toFixed(0));
  return [name, write(before), write(after), percent(share)];
};

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
