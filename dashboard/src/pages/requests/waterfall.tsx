import type { RequestAttempt } from '@gatehouse/sdk';
import { duration } from '../../format/duration.ts';
import { attemptEnding } from '../../format/ending.ts';
import { count } from '../../format/number.ts';
import { Amount } from '../../ui/amount.tsx';
import { Badge } from '../../ui/badge.tsx';
import * as styles from './waterfall.module.css';

/** The attempts at providers, in order, each at its time within the request. */
export function Waterfall({ attempts, totalMs }: { attempts: readonly RequestAttempt[]; totalMs: number }) {
  const end = Math.max(totalMs, ...attempts.map(({ started_ms, total_ms }) => started_ms + total_ms), 0.001);
  const share = (ms: number) => `${Math.min(100, Math.max(0, (ms / end) * 100))}%`;
  return (
    <ol className={styles.attempts}>
      {attempts.map((attempt, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attempts have no id, and their order never changes
        <li key={index} className={styles.attempt}>
          <div className={styles.head}>
            <span className={styles.name}>
              <span className={styles.number}>{index + 1}</span>
              <bdi>
                {attempt.provider}
                {attempt.credential === ''
                  ? ''
                  : ` · ${attempt.is_byok === 1 ? 'own key' : attempt.credential}`}
              </bdi>
            </span>
            <Badge tone={attempt.ending === 'served' ? 'good' : 'bad'}>{attemptEnding(attempt)}</Badge>
          </div>
          <div className={styles.track} aria-hidden="true">
            <span
              className={styles.bar}
              data-ending={attempt.ending === 'served' ? 'served' : 'failed'}
              style={{ marginLeft: share(attempt.started_ms), width: share(attempt.total_ms) }}
            >
              {attempt.ttft_ms === null || attempt.total_ms === 0 ? undefined : (
                <span
                  className={styles.first}
                  style={{ left: `${Math.min(100, (attempt.ttft_ms / attempt.total_ms) * 100)}%` }}
                />
              )}
            </span>
          </div>
          <p className={styles.facts}>
            <bdi>{attempt.upstream_model}</bdi> · after {duration(attempt.started_ms)}, for{' '}
            {duration(attempt.total_ms)}
            {attempt.ttft_ms === null ? '' : `, first token after ${duration(attempt.ttft_ms)}`}
            {attempt.tokens_generated > 0 ? ` · ${count(attempt.tokens_generated)} tokens` : ''} ·{' '}
            <Amount value={attempt.cost_pkr} />
          </p>
          {attempt.error === null ? undefined : (
            <p className={styles.error}>
              <bdi>{attempt.error}</bdi>
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}
