import { CheckCircledIcon, ExclamationTriangleIcon, InfoCircledIcon } from '@radix-ui/react-icons';
import type { ReactNode } from 'react';
import * as styles from './notice.module.css';

const ICONS = { info: InfoCircledIcon, good: CheckCircledIcon, warn: ExclamationTriangleIcon };

/** Something to know before acting. Errors have their own: `ErrorNotice`. */
export function Notice({
  tone = 'info',
  children,
}: {
  tone?: 'info' | 'good' | 'warn';
  children: ReactNode;
}) {
  const Icon = ICONS[tone];
  return (
    <div className={styles.notice} data-tone={tone}>
      <Icon aria-hidden="true" />
      <div className={styles.body}>{children}</div>
    </div>
  );
}
