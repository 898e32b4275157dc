import type { RequestLogEntry } from '@gatehouse/sdk';
import { duration } from '../../format/duration.ts';
import { timingParts } from '../../format/timing.ts';
import * as styles from './timing-bar.module.css';

/** The parts of a request's time. */
export function TimingBar({ metrics }: { metrics: RequestLogEntry['metrics'] }) {
  const parts = timingParts(metrics);
  const total = metrics.total_ms;
  return (
    <div className={styles.timing}>
      <div className={styles.bar} aria-hidden="true">
        {parts.map(({ id, ms }) => (
          <span
            key={id}
            className={styles.part}
            data-part={id}
            style={{ width: total > 0 ? `${(ms / total) * 100}%` : 0 }}
          />
        ))}
      </div>
      <dl className={styles.legend}>
        {parts.map(({ id, label, ms }) => (
          <div key={id} className={styles.entry}>
            <dt>
              <span className={styles.mark} data-part={id} aria-hidden="true" />
              {label}
            </dt>
            <dd>{duration(ms)}</dd>
          </div>
        ))}
        <div className={styles.entry} data-total>
          <dt>Together</dt>
          <dd>{duration(total)}</dd>
        </div>
      </dl>
    </div>
  );
}
