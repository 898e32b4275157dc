import type { Queryable } from './database.ts';
import { sql } from './sql.ts';
import { type NoParameters, statement } from './statement.ts';

export const isReady = statement<NoParameters>('readiness', sql`SELECT`);

// Long enough that frequent probes cost nothing, short enough that an outage shows at once.
const CACHE_MS = 500;

/**
 * A probe that lists what keeps a service from serving; an empty list when it can serve. Probes within half a second
 * share one answer.
 */
export function createReadiness(
  database: Queryable,
  monotonicMs: () => number = () => performance.now(),
): () => Promise<readonly string[]> {
  let probedAtMs = Number.NEGATIVE_INFINITY;
  let answer: Promise<readonly string[]> = Promise.resolve([]);
  return () => {
    const nowMs = monotonicMs();
    if (nowMs - probedAtMs >= CACHE_MS) {
      probedAtMs = nowMs;
      answer = database.run(isReady).then(
        () => [],
        () => ['PostgreSQL cannot be used'],
      );
    }
    return answer;
  };
}
