import type { ReactNode } from 'react';
import * as styles from './empty-state.module.css';

export interface EmptyStateProps {
  /** The missing thing: "No requests in the last 24 hours". */
  readonly title: string;
  /** The next step. */
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

export function EmptyState({ title, children, actions }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <svg width="44" height="44" viewBox="0 0 44 44" aria-hidden="true" className={styles.mark}>
        <rect x="12" y="12" width="20" height="20" />
        <path d="M22 7.9 36.1 22 22 36.1 7.9 22Z" />
        <circle cx="22" cy="22" r="3" />
      </svg>
      <p className={styles.title}>{title}</p>
      {children === undefined ? undefined : <div className={styles.text}>{children}</div>}
      {actions === undefined ? undefined : <div className={styles.actions}>{actions}</div>}
    </div>
  );
}
