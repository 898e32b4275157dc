import * as styles from './logo.module.css';

/** The tile: two squares, one turned, as on the walls of Multan. */
export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect className={styles.tile} width="32" height="32" rx="7" />
      <g className={styles.lines}>
        <rect x="9" y="9" width="14" height="14" />
        <path d="M16 6.1 25.9 16 16 25.9 6.1 16Z" />
      </g>
      <circle className={styles.dot} cx="16" cy="16" r="2.3" />
    </svg>
  );
}

export function Logo() {
  return (
    <span className={styles.logo}>
      <Mark />
      <span>Gatehouse</span>
    </span>
  );
}
