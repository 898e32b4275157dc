import type { ReactNode } from 'react';
import * as styles from './page-header.module.css';
import { useTitle } from './title.ts';

export interface PageHeaderProps {
  /** Also the title of the browser's tab. */
  readonly title: string;
  readonly lead?: ReactNode;
  /** The main action, or the range of the page. */
  readonly actions?: ReactNode;
}

/** The top of every page. Its heading is the only `h1`. */
export function PageHeader({ title, lead, actions }: PageHeaderProps) {
  useTitle(title);
  return (
    <header className={styles.header}>
      <div className={styles.heading}>
        <h1 className={styles.title}>{title}</h1>
        {lead === undefined ? undefined : <p className={styles.lead}>{lead}</p>}
      </div>
      {actions === undefined ? undefined : <div className={styles.actions}>{actions}</div>}
    </header>
  );
}
