import type { Judged, Kept } from './judge.ts';
import { KINDS, type Kind } from './load.ts';
import type { RowRun } from './run-row.ts';

// The figures of a row, for a person and for the table in docs/reliability.md.

const GROUPS: Readonly<Record<string, readonly Kind[]>> = {
  dashboard: ['dashboard'],
  API: ['session', 'sign-in', 'change', 'keys'],
  analytics: ['analytics'],
  Google: ['google'],
  gateway: ['models', 'chat', 'stream'],
};

/** A line for each kind of request. */
export function detailsOf({ seen }: Judged): readonly string[] {
  const width = Math.max(...KINDS.map((kind) => kind.length));
  return seen.map(({ kind, answers, slowestMs }) => {
    const counts = [...answers].map(([answer, count]) => `${answer} × ${count}`).join(', ');
    return `  ${kind.padEnd(width)}  ${inSeconds(slowestMs)} s at most  ${counts}`;
  });
}

/** A row of a Markdown table: row, answers with their longest time by group, recovery, memory, what is kept. */
export function tableRowOf({ row, memoryMib }: RowRun, judged: Judged, kept: Kept): string {
  const answers = Object.entries(GROUPS).flatMap(([group, kinds]) => {
    const seen = judged.seen.filter(({ kind }) => kinds.includes(kind));
    if (seen.length === 0) return [];
    const statuses = new Set(
      seen.flatMap((one) => [...one.answers.keys()].map((answer) => answer.slice(0, 3))),
    );
    const slowestMs = Math.max(...seen.map((one) => one.slowestMs));
    return [`${group} ${[...statuses].sort().join('/')} ${inSeconds(slowestMs)} s`];
  });
  const memory = `${Math.round(memoryMib.before)} → ${Math.round(memoryMib.most)} MiB`;
  const recovery = `${inSeconds(judged.recoveryMs)} s`;
  return `| \`${row.name}\` | ${answers.join('; ')} | ${recovery} | ${memory} | ${kept.changes} + ${kept.requests} |`;
}

function inSeconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
