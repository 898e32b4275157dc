import { type NoParameters, sql, statement } from '@gatehouse/store';
import { eventually } from '../../service-process.ts';
import { HUNG } from './ask.ts';
import { addressOf } from './callers.ts';
import { type Asked, KINDS, type Kind } from './load.ts';
import { SLOW_MS } from './rows.ts';
import type { RowRun } from './run-row.ts';
import type { Stand } from './stand.ts';

const listSettled = statement<NoParameters, { id: string }>(
  'drill-outages-list-settled',
  sql`SELECT request_id::text AS id FROM settlements`,
);
const listChanges = statement<NoParameters, { sourceIp: string; count: bigint }>(
  'drill-outages-list-changes',
  sql`SELECT source_ip, count(*) AS count FROM activity_events WHERE action = 'api_key.updated' GROUP BY source_ip`,
);

/** The outage as the callers of one kind saw it. */
export interface Seen {
  readonly kind: Kind;
  readonly requests: number;
  /** How often each answer came: `200`, `503 model_unavailable`. */
  readonly answers: ReadonlyMap<string, number>;
  readonly slowestMs: number;
}

export interface Judged {
  readonly seen: readonly Seen[];
  /** From the end of the outage to the last answer that was no success. */
  readonly recoveryMs: number;
  readonly broken: readonly string[];
}

/** Holds a run against what its row allows. */
export function judge(run: RowRun): Judged {
  const { row, asked, begunAtMs, endedAtMs, hasRecovered } = run;
  const broken: string[] = [];
  const during = (one: Asked) => one.endedAtMs >= begunAtMs && one.startedAtMs <= endedAtMs;
  const failures = asked.filter(({ failure }) => failure !== undefined);

  for (const one of failures.filter(({ endedAtMs: at }) => at < begunAtMs))
    broken.push(`before the outage ${describe(one)}`);
  for (const one of failures.filter(({ endedAtMs: at }) => at >= begunAtMs)) {
    const allowed = row.mayFail[one.kind] ?? [];
    if (one.failure === HUNG || !allowed.includes(one.status)) broken.push(describe(one));
  }
  const slowest = asked.toSorted((a, b) => b.tookMs - a.tookMs)[0];
  if (slowest && slowest.tookMs > row.longestMs + BUSY_MS)
    broken.push(`${describe(slowest)}; ${row.longestMs} ms is the bound`);
  if (!hasRecovered) broken.push('not everything worked again');
  const isSlow = row.outage.kind === 'network' && row.outage.fault.kind === 'slow';
  const isFelt = asked.some(
    (one) => during(one) && (isSlow ? one.tookMs >= SLOW_MS : one.failure !== undefined),
  );
  if (row.isFelt && !isFelt) broken.push('nothing of the outage was felt');

  const seen = KINDS.flatMap((kind) => {
    const mine = asked.filter((one) => one.kind === kind && during(one));
    if (mine.length === 0) return [];
    const answers = new Map<string, number>();
    for (const { status, failure } of mine) {
      const name = failure === undefined ? String(status) : `${status} ${failure}`;
      answers.set(name, (answers.get(name) ?? 0) + 1);
    }
    return [{ kind, requests: mine.length, answers, slowestMs: Math.max(...mine.map((one) => one.tookMs)) }];
  });
  const lastFailureAtMs = Math.max(endedAtMs, ...failures.map((one) => one.endedAtMs));
  return { seen, recoveryMs: lastFailureAtMs - endedAtMs, broken: shortened(broken) };
}

const MAX_NAMED = 5;
// The time that a machine that is busy with other programs may add to any bound.
const BUSY_MS = 10_000;

/** The first of many that are alike. */
function shortened(broken: readonly string[]): readonly string[] {
  if (broken.length <= MAX_NAMED) return broken;
  return [...broken.slice(0, MAX_NAMED), `and ${broken.length - MAX_NAMED} more`];
}

function describe({ kind, status, failure = '', tookMs }: Asked): string {
  return `${kind} was answered ${status} ${failure} after ${Math.round(tookMs)} ms`;
}

export interface Kept {
  readonly changes: number;
  readonly requests: number;
}

/**
 * Checks that everything that was acknowledged is there, once: changes in the activity log, answered requests in the ledger and in
 * the request log. Waits for what is shipped in the background.
 */
export async function keptOf(stand: Stand, asked: readonly Asked[], broken: string[]): Promise<Kept> {
  const { database, telemetry } = stand;
  const acknowledged = asked.filter(({ failure }) => failure === undefined);
  const changes = acknowledged.filter(({ kind }) => kind === 'change');
  const entries = new Map((await database.many(listChanges)).map((row) => [row.sourceIp, row.count]));
  const lost = changes.filter(({ number }) => entries.get(addressOf(number)) !== 1n);
  if (lost.length > 0) broken.push(`${lost.length} of ${changes.length} changes have not one entry each`);

  const requests = acknowledged.filter(({ kind }) => kind === 'chat' || kind === 'stream');
  const missing = async (ids: readonly string[]) => {
    const found = new Set(ids);
    return requests.filter(({ requestId }) => requestId === undefined || !found.has(requestId)).length;
  };
  const settled = async () => missing((await database.many(listSettled)).map(({ id }) => id));
  const logged = async () => {
    const result = await telemetry.query({
      query: 'SELECT request_id, count() AS rows FROM telemetry.request_log GROUP BY request_id',
      format: 'JSONEachRow',
    });
    const rows = await result.json<{ request_id: string; rows: string }>();
    const twice = rows.filter((row) => Number(row.rows) > 1);
    if (twice.length > 0) throw new Error(`${twice.length} requests are in the request log twice`);
    return missing(rows.map((row) => row.request_id));
  };
  for (const [where, look] of Object.entries({ ledger: settled, 'request log': logged })) {
    await eventually(async () => (await look()) === 0 || undefined).catch(async () => {
      broken.push(`${await look()} of ${requests.length} answered requests are not in the ${where}`);
    });
  }
  return { changes: changes.length, requests: requests.length };
}
