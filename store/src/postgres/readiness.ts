import { withTimeout } from '@gatehouse/concurrency';
import type { Database } from './database.ts';
import { DatabaseUnavailable } from './errors.ts';
import { sql } from './sql.ts';
import { type NoParameters, statement } from './statement.ts';

/*
 * All nodes share the database, so all of them fail a probe at the same moment. A balancer that then has no node left answers in
 * words of its own, and some time longer than the hiccup. So a node is unready only after the database has been away for
 * a while; until then its requests are answered with 503 and `Retry-After` by the node itself. See decision 44.
 */

export const isReady = statement<NoParameters>('readiness', sql`SELECT`);

// Long enough that frequent probes cost nothing.
const CACHE_MS = 500;
// Shorter than the limits of usual probes: an answer that comes too late counts as none.
const PROBE_LIMIT_MS = 1_000;
/** How long the database is away, from the first statement that failed, until a node that has reached it before is unready. */
export const AWAY_MS = 5_000;

/**
 * A probe that lists what keeps a service from serving; an empty list when it can serve. Probes within half a second
 * share one answer.
 */
export function createReadiness(
  database: Pick<Database, 'run' | 'usage'>,
  monotonicMs: () => number = () => performance.now(),
): () => Promise<readonly string[]> {
  let probedAtMs = Number.NEGATIVE_INFINITY;
  let answer: Promise<readonly string[]> = Promise.resolve([]);
  let answeredBefore = 0;
  let failingSinceMs: number | undefined;

  const probe = async (nowMs: number): Promise<readonly string[]> => {
    const beganAt = performance.now();
    const hasSucceeded = await withTimeout(
      database.run(isReady),
      PROBE_LIMIT_MS,
      () => new DatabaseUnavailable('too late'),
    ).then(
      () => true,
      () => false,
    );
    const { answered, unavailableSinceMs } = database.usage();
    // Under load the probe may wait for a connection while requests are answered: that is no reason to send the load elsewhere.
    if (hasSucceeded || answered > answeredBefore) failingSinceMs = undefined;
    answeredBefore = answered;
    if (hasSucceeded) return [];
    // Requests may have failed long before this probe.
    failingSinceMs ??= nowMs - Math.max(0, beganAt - (unavailableSinceMs ?? beganAt));
    const isAway = answered === 0 || nowMs - failingSinceMs >= AWAY_MS;
    return isAway ? ['PostgreSQL cannot be used'] : [];
  };

  return () => {
    const nowMs = monotonicMs();
    if (nowMs - probedAtMs >= CACHE_MS) {
      probedAtMs = nowMs;
      answer = probe(nowMs);
    }
    return answer;
  };
}
