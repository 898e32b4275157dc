import type { ReactNode } from 'react';
import { Focusable } from 'react-aria-components/Tooltip';
import type { Change } from '../format/change.ts';
import * as styles from './figure.module.css';
import { Skeleton } from './skeleton.tsx';
import { Tooltip } from './tooltip.tsx';

export interface FigureProps {
  readonly label: string;
  /** As it is read: `12.3K`. Undefined while it loads; null where it is unknown. */
  readonly value: string | null | undefined;
  /** True if the value is of the window or filter before, while the next one loads. */
  readonly isStale?: boolean;
  /** Small, after the value: `ms`, `PKR`. */
  readonly unit?: string | undefined;
  /** The exact value, on hover. */
  readonly exact?: string | undefined;
  readonly change?: Change | undefined;
  /** A second figure below: "p95 8.9 s". */
  readonly detail?: ReactNode;
  /** A spark line. */
  readonly chart?: ReactNode;
  /** A `CopyCurl`. */
  readonly action?: ReactNode;
  /** Makes the figure a button that chooses it: what a chart below shows. */
  readonly onPress?: (() => void) | undefined;
  readonly isPressed?: boolean;
}

/** One figure with its change against the window before. */
export function Figure({
  label,
  value,
  isStale = false,
  unit,
  exact,
  change,
  detail,
  chart,
  action,
  onPress,
  isPressed,
}: FigureProps) {
  return (
    <article
      className={styles.figure}
      data-pressed={isPressed || undefined}
      aria-label={label}
      data-stale={isStale || undefined}
      aria-busy={isStale || value === undefined}
    >
      <header className={styles.header}>
        <h3 className={styles.label}>
          {onPress === undefined ? (
            label
          ) : (
            <button type="button" className={styles.press} aria-pressed={isPressed} onClick={onPress}>
              {label}
            </button>
          )}
        </h3>
        {action === undefined ? undefined : <span className={styles.action}>{action}</span>}
      </header>
      {value === undefined ? (
        <Skeleton width="55%" height={28} />
      ) : (
        <p className={styles.value} title={exact}>
          {value === null ? (
            <span title="Unknown: no request in this window has it">–</span>
          ) : (
            <>
              {value}
              {unit === undefined ? undefined : <span className={styles.unit}>{unit}</span>}
            </>
          )}
        </p>
      )}
      <div className={styles.below}>
        {change === undefined ? undefined : <ChangeMark change={change} />}
        {detail === undefined ? undefined : <span className={styles.detail}>{detail}</span>}
      </div>
      {chart === undefined ? undefined : <div className={styles.chart}>{chart}</div>}
    </article>
  );
}

const ARROWS = { up: '↑', down: '↓', same: '' };

export function ChangeMark({ change: { text, trend, tone, sentence } }: { change: Change }) {
  return (
    <Tooltip text={`${sentence}.`}>
      <Focusable>
        <span className={styles.change} data-tone={tone} role="note" aria-label={sentence} tabIndex={-1}>
          {ARROWS[trend]} {text}
        </span>
      </Focusable>
    </Tooltip>
  );
}
