import type { Queryable } from './database.ts';
import { statement } from './statement.ts';

const one = statement('readiness', 'SELECT 1');

// Long enough that frequent probes cost nothing, short enough that an outage shows at once.
const KEPT_MS = 500;

/**
 * A probe that says what keeps a service from serving, in a few words each; an empty list when nothing does.
 * Probes that come within half a second share one answer.
 */
export function createReadiness(
  database: Queryable,
  monotonicMs: () => number = () => performance.now(),
): () => Promise<readonly string[]> {
  let asked = Number.NEGATIVE_INFINITY;
  let answer: Promise<readonly string[]> = Promise.resolve([]);
  return () => {
    const nowMs = monotonicMs();
    if (nowMs - asked >= KEPT_MS) {
      asked = nowMs;
      answer = database.run(one).then(
        () => [],
        () => ['PostgreSQL cannot be used'],
      );
    }
    return answer;
  };
}
