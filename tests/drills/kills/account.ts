import { type Billed, costOf } from './bill.ts';
import type { Books } from './books.ts';
import type { Sent } from './callers.ts';

// Compares what callers were told, what the provider answered, what the request log has and what the ledger has.

export interface Account {
  readonly sent: readonly Sent[];
  readonly bill: ReadonlyMap<number, Billed>;
  readonly books: Books;
  /** When each gateway was killed. */
  readonly killedAtMs: readonly (readonly number[])[];
}

/** The answers that callers had. */
export interface Calls {
  readonly broken: readonly string[];
  readonly whole: number;
  readonly served: number;
  readonly left: number;
  readonly interrupted: number;
  /** Answered with 503, with Retry-After, because a store was away. */
  readonly unavailable: number;
  /** Requests that reached the provider from a gateway that was killed before it had recorded them: nobody is charged. */
  readonly uncharged: number;
  readonly unchargedMicroPkr: bigint;
}

export interface Accounted extends Calls {
  readonly settled: number;
  readonly settledMicroPkr: bigint;
}

// A gateway that reads an answer on for a caller that has left does so no longer, with this provider.
const READS_ON_MS = 30_000;
const MAX_SHOWN = 20;

/** Each request beside the provider's bill and its row. */
export function checkCalls({ sent, bill, books, killedAtMs }: Account): Calls {
  const broken: string[] = [];
  const rows = Map.groupBy(books.rows, ({ request }) => request);
  const figures = { whole: 0, served: 0, left: 0, interrupted: 0, unavailable: 0, uncharged: 0 };
  let unchargedMicroPkr = 0n;

  for (const one of sent) {
    const { request, kind } = one;
    const own = rows.get(request) ?? [];
    const [row] = own;
    const say = (what: string) => broken.push(`request ${request} (${kind}): ${what}`);
    if (own.length > 1) say(`${own.length} rows in the request log`);
    if (one.status === 503) figures.unavailable += 1;
    else if (one.status !== undefined && one.status !== 200) say(`answered ${one.status}: ${one.problem}`);
    if (one.status === 200 && !one.isWhole && !one.hasLeft && !one.problem?.startsWith('broken'))
      say(`its answer has no end: ${one.problem}`);
    if (one.isWhole) {
      figures.whole += 1;
      if (one.status === 200) figures.served += 1;
      if (row === undefined) {
        if (one.status === 200) say('was answered, and the request log lacks it');
      } else if (row.status !== one.status || row.id !== one.id)
        say(`was answered ${one.status} as ${one.id}, and the request log has ${row.status} as ${row.id}`);
    } else if (one.hasLeft) figures.left += 1;
    else figures.interrupted += 1;
    const billed = bill.get(request);
    if ((billed?.asked ?? 0) > 1) say(`the provider was asked ${billed?.asked} times`);
    if (row === undefined) {
      if (one.isWhole || billed === undefined) continue;
      const lastMs = one.endedAtMs + READS_ON_MS;
      const wasKilled = killedAtMs[one.gateway]?.some((atMs) => atMs >= one.sentAtMs && atMs <= lastMs);
      if (!wasKilled) say('the provider was asked, its gateway lived, and the request log lacks it');
      figures.uncharged += 1;
      unchargedMicroPkr += costOf(request);
      continue;
    }
    if (row.status >= 500 && row.status !== 503) say(`ended with ${row.status} in the request log`);
    // A caller may leave before the provider was asked.
    const due = billed === undefined || row.status === 503 ? 0n : costOf(request);
    if (row.status === 200 && billed === undefined) say('was served, and the provider was not asked');
    if (row.costMicroPkr !== due)
      say(
        `costs ${row.costMicroPkr}, and the provider's bill is ${due}; it ended with ${row.status}: ${row.ending}`,
      );
  }
  return { ...figures, unchargedMicroPkr, broken };
}

/** Each row of the request log beside its settlement, both ways. */
function checkRows(books: Books): string[] {
  const broken: string[] = [];
  const settledIds = Map.groupBy(books.settlements, ({ id }) => id);
  const rowIds = Map.groupBy(books.rows, ({ id }) => id);
  for (const { id, costMicroPkr } of books.rows) {
    const settled = settledIds.get(id) ?? [];
    if (costMicroPkr > 0n && settled.length === 0)
      broken.push(`${id} costs ${costMicroPkr} and is not settled`);
  }
  for (const [id, settled] of settledIds) {
    const [row] = rowIds.get(id) ?? [];
    const [{ costMicroPkr }] = settled as [(typeof settled)[number]];
    if (row === undefined) broken.push(`${id} is settled, and the request log lacks it`);
    else if (row.costMicroPkr !== costMicroPkr)
      broken.push(`${id} costs ${row.costMicroPkr} in the request log, and is settled with ${costMicroPkr}`);
  }
  for (const [id, own] of rowIds)
    if (own.length > 1) broken.push(`${id} has ${own.length} rows in the request log`);
  return broken;
}

/** Each sum of the ledger beside its settlements, and no hold left over. */
export function checkLedger(books: Books): string[] {
  const broken: string[] = [];
  const ids = new Set(books.settlements.map(({ id }) => id));
  if (ids.size !== books.settlements.length)
    broken.push(`${books.settlements.length} settlements of ${ids.size} requests`);
  const sums = Map.groupBy(books.settlements, ({ keyId }) => keyId);
  const sumOf = (keyId: string) => (sums.get(keyId) ?? []).reduce((sum, one) => sum + one.costMicroPkr, 0n);
  for (const { keyId, spent, held, unsettled } of books.keys) {
    if (spent !== sumOf(keyId))
      broken.push(`key ${keyId} has spent ${spent}, and its settlements are ${sumOf(keyId)}`);
    if (held !== 0n || unsettled !== 0n)
      broken.push(`key ${keyId} still holds ${held}, ${unsettled} of it unsettled`);
  }
  if (books.holds > 0) broken.push(`${books.holds} holds are left over`);
  return broken;
}

/** All of it: the promises that were broken, and the figures. */
export function account(given: Account): Accounted {
  const { books } = given;
  const calls = checkCalls(given);
  const broken = [...calls.broken, ...checkRows(books), ...checkLedger(books)];
  const more = broken.length - MAX_SHOWN;
  return {
    ...calls,
    broken: more > 0 ? [...broken.slice(0, MAX_SHOWN), `and ${more} more`] : broken,
    settled: books.settlements.filter(({ costMicroPkr }) => costMicroPkr > 0n).length,
    settledMicroPkr: books.settlements.reduce((sum, { costMicroPkr }) => sum + costMicroPkr, 0n),
  };
}
