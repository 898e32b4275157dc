import type { ReactNode } from 'react';
import * as styles from './details.module.css';

/** Names and values, one a line: the fields of one thing. */
export function Details({
  items,
}: {
  items: readonly { readonly label: string; readonly value: ReactNode }[];
}) {
  return (
    <dl className={styles.details}>
      {items.map(({ label, value }) => (
        <div key={label} className={styles.item}>
          <dt className={styles.label}>{label}</dt>
          <dd className={styles.value}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
