import type { ReactNode } from 'react';
import * as styles from './filter-bar.module.css';

/** The filters of a page, beside each other. They wrap on a narrow screen. */
export function FilterBar({ children }: { children: ReactNode }) {
  return (
    <search className={styles.bar} aria-label="Filters">
      {children}
    </search>
  );
}
