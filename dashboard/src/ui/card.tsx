import type { ReactNode } from 'react';
import { Boundary } from './boundary.tsx';
import * as styles from './card.module.css';

export interface CardProps {
  readonly title?: ReactNode;
  /** One line below the title: what is counted, in which unit. */
  readonly caption?: ReactNode;
  /** Buttons at the right of the title, such as `CopyCurl`. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Without space around the content: for a table. */
  readonly isFlush?: boolean;
}

/** A part of a page on its own surface. It is a section with the title as its name. */
export function Card({ title, caption, actions, children, isFlush = false }: CardProps) {
  return (
    <section className={styles.card} aria-label={typeof title === 'string' ? title : undefined}>
      {title === undefined && actions === undefined ? undefined : (
        <header className={styles.header}>
          <div className={styles.heading}>
            <h2 className={styles.title}>{title}</h2>
            {caption === undefined ? undefined : <p className={styles.caption}>{caption}</p>}
          </div>
          {actions === undefined ? undefined : <div className={styles.actions}>{actions}</div>}
        </header>
      )}
      <div className={styles.content} data-flush={isFlush || undefined}>
        <Boundary>{children}</Boundary>
      </div>
    </section>
  );
}
