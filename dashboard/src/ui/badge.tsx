import type { ReactNode } from 'react';
import * as styles from './badge.module.css';

export type Tone = 'neutral' | 'info' | 'good' | 'warn' | 'bad';

/** A word about the state of something. The word says it; the colour only helps. */
export function Badge({
  tone = 'neutral',
  icon,
  children,
}: {
  tone?: Tone;
  icon?: ReactNode;
  children: ReactNode;
}) {
  return (
    <span className={styles.badge} data-tone={tone}>
      {icon}
      {children}
    </span>
  );
}

/** A badge of an HTTP status: its class is in the shape of the mark as well as in its colour. */
export function StatusBadge({ status }: { status: number }) {
  const tone = status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good';
  return (
    <span className={styles.status} data-tone={tone}>
      <svg width="8" height="8" viewBox="0 0 8 8" aria-hidden="true">
        {tone === 'good' ? (
          <circle cx="4" cy="4" r="3.5" />
        ) : tone === 'warn' ? (
          <path d="M4 .5 8 7.5H0Z" />
        ) : (
          <rect x=".5" y=".5" width="7" height="7" />
        )}
      </svg>
      {status}
    </span>
  );
}
