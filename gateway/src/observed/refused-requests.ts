import type { Clock, Timers } from '@gatehouse/concurrency';
import { type CountedRule, requestLogColumns } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { FinishedRequest } from '../journal/finished-request.ts';
import type { Journal } from '../journal/journal.ts';
import { IntervalTimer, intervalOf } from './intervals.ts';
import { WriteBudget, type WriteLimits } from './write-budget.ts';

/**
 * Keeps refused requests from filling the disk. They cost their sender nothing, so their number is bounded by nothing
 * but the speed of the gateway, and each would be a row. Up to a number a minute they are rows like all others. Beyond it
 * they are counted: one row for each key, status and code in ten seconds, which says for how many requests it stands.
 * An organisation with very many keys has a bound of its own, past which its requests are counted without the key.
 *
 * Counts are in memory until their ten seconds are over. A killed process loses them; one that is stopped writes them.
 * Requests that hold credit or cost something are never counted: they are money.
 */
export interface RefusedRequestsOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  readonly limits?: WriteLimits;
  /** How many counts are kept in memory; past it they are written early. */
  readonly mostCounts?: number;
}

/** Rows of refused requests of one organisation in a minute. In the journal one is under 6 KiB, a combined one under 2,560 bytes. */
export const ROW_LIMITS: WriteLimits = { singlesOfKey: 60, singles: 300, counts: 700 };
const MAX_COUNTS = 10_000;
// So many are encoded before others have a turn.
const ROWS_AT_ONCE = 250;

interface Count {
  /** The first request, merged with the others; a sum where the row has a mean. */
  row: FinishedRequest;
  requests: number;
}

export class RefusedRequests {
  readonly #options: RefusedRequestsOptions;
  readonly #budget: WriteBudget;
  readonly #timer: IntervalTimer;
  readonly #mostCounts: number;
  #counts = new Map<string, Count>();
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;
  /** The journal did not take the last ones: they wait for their interval. */
  #isFailing = false;
  /** Requests that found no room in memory, until the log has been written. */
  #lost = 0;

  constructor(options: RefusedRequestsOptions) {
    const { clock, timers, limits = ROW_LIMITS, mostCounts = MAX_COUNTS } = options;
    this.#options = options;
    this.#mostCounts = mostCounts;
    this.#budget = new WriteBudget(limits, () => clock.monotonicMs());
    this.#timer = new IntervalTimer(clock, timers, () => void this.flush());
  }

  /** Counts the request, unless it is to be written as a row of its own: then it is false. */
  count(request: FinishedRequest): boolean {
    const { organizationId, keyId } = request;
    if (request.isHeld || request.costMicroPkr > 0n) return false;
    if (this.#budget.takeSingle(organizationId, keyId ?? '')) return false;
    const known = this.#counts.get(nameOf(request));
    if (known) add(known, request);
    else if (this.#budget.takeCount(organizationId)) this.#keep(countOf(request));
    else this.#keep(countOf({ ...request, keyId: null, projectId: null }));
    return true;
  }

  /** How many counts are waiting to be written. */
  get size(): number {
    return this.#counts.size;
  }

  /** Writes what was counted. What cannot be written is kept and tried again in the next interval. */
  flush(): Promise<void> {
    this.#timer.cancel();
    this.#isWriting = true;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Writes what was counted, for the last time. */
  async close(): Promise<void> {
    await this.flush();
    this.#timer.cancel();
    for (const { requests } of this.#counts.values()) this.#lost += requests;
    this.#counts.clear();
    this.#tellLost();
  }

  #keep(count: Count): void {
    const name = nameOf(count.row);
    const known = this.#counts.get(name);
    if (known) {
      merge(known, count);
    } else if (this.#counts.size < this.#mostCounts * 2) {
      this.#counts.set(name, count);
    } else {
      // The journal has not taken any for a while.
      this.#lost += count.requests;
    }
    this.#timer.start();
    if (this.#counts.size >= this.#mostCounts && !this.#isWriting && !this.#isFailing) void this.flush();
  }

  async #write(): Promise<void> {
    const { journal, log } = this.#options;
    const counts = [...this.#counts.values()];
    this.#counts = new Map();
    const failed: Count[] = [];
    let reason: unknown;
    for (let from = 0; from < counts.length; from += ROWS_AT_ONCE) {
      const write = async (count: Count) => {
        try {
          await journal.append(rowOf(count));
        } catch (error) {
          reason = error;
          failed.push(count);
        }
      };
      await Promise.all(counts.slice(from, from + ROWS_AT_ONCE).map(write));
    }
    this.#isFailing = failed.length > 0;
    this.#isWriting = false;
    for (const count of failed) this.#keep(count);
    if (failed.length > 0)
      log.error(
        { event: 'refused.counts_delayed', err: reason, rows: failed.length },
        'counts of refused requests not written; retrying',
      );
    this.#tellLost();
  }

  #tellLost(): void {
    if (this.#lost === 0) return;
    const requests = this.#lost;
    this.#lost = 0;
    this.#options.log.error(
      { event: 'refused.counts_lost', requests },
      'refused requests are missing from the request log',
    );
  }
}

// Requests of one name become one row. The model is not in it: a caller may name any number of them.
function nameOf(request: FinishedRequest): string {
  const { organizationId, keyId, status, refusal, terminationReason, startedAtMicros } = request;
  return [organizationId, keyId, status, refusal, terminationReason, intervalOf(startedAtMicros)].join(' ');
}

function countOf(row: FinishedRequest): Count {
  return { row, requests: 1 };
}

function add(count: Count, request: FinishedRequest): void {
  merge(count, countOf(request));
}

const MERGED = requestLogColumns.flatMap(({ field, counted, isNullable }) =>
  counted === undefined ? [] : [{ field, rule: counted, empty: isNullable ? null : '' }],
);
const MERGES: Readonly<Record<CountedRule, (a: never, b: never) => unknown>> = {
  ofOneModel: (a: string | null) => a,
  latest: (a: bigint, b: bigint) => (b > a ? b : a),
  every: (a: boolean, b: boolean) => a && b,
  mean: (a: number, b: number) => a + b,
};

function merge(into: Count, from: Count): void {
  const isOfOneModel = into.row.model === from.row.model;
  const row: Record<string, unknown> = { ...into.row };
  for (const { field, rule, empty } of MERGED) {
    row[field] =
      rule === 'ofOneModel' && !isOfOneModel
        ? empty
        : MERGES[rule](into.row[field] as never, from.row[field] as never);
  }
  into.row = row as unknown as FinishedRequest;
  into.requests += from.requests;
}

function rowOf({ row, requests }: Count): FinishedRequest {
  const counted: Record<string, unknown> = { ...row, requestCount: requests };
  for (const { field, rule } of MERGED)
    if (rule === 'mean') counted[field] = toMicrosecond(Number(row[field]) / requests);
  return counted as unknown as FinishedRequest;
}

function toMicrosecond(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
