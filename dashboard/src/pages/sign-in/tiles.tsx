import * as styles from './tiles.module.css';

/** A wall of tiles, eight-pointed stars between crosses, drawn as one repeated square. Decoration only. */
export function Tiles() {
  return (
    <div className={styles.wall}>
      <svg className={styles.svg} width="100%" height="100%" aria-hidden="true">
        <defs>
          <pattern id="tile" width="120" height="120" patternUnits="userSpaceOnUse">
            <rect className={styles.ground} width="120" height="120" />
            <g className={styles.star}>
              <path d="M60 16.3 72.8 29.2H90.8V47.2L103.7 60 90.8 72.8V90.8H72.8L60 103.7 47.2 90.8H29.2V72.8L16.3 60 29.2 47.2V29.2H47.2Z" />
            </g>
            <g className={styles.lines}>
              <path d="M60 16.3 72.8 29.2H90.8V47.2L103.7 60 90.8 72.8V90.8H72.8L60 103.7 47.2 90.8H29.2V72.8L16.3 60 29.2 47.2V29.2H47.2Z" />
              <path d="M60 0V16.3M60 103.7V120M0 60H16.3M103.7 60H120M0 0 29.2 29.2M120 0 90.8 29.2M0 120 29.2 90.8M120 120 90.8 90.8" />
            </g>
            <path
              className={styles.inner}
              d="M60 34 67.6 41.6H78.4V52.4L86 60 78.4 67.6V78.4H67.6L60 86 52.4 78.4H41.6V67.6L34 60 41.6 52.4V41.6H52.4Z"
            />
            <circle className={styles.heart} cx="60" cy="60" r="9" />
            <circle className={styles.corner} cx="0" cy="0" r="10" />
            <circle className={styles.corner} cx="120" cy="0" r="10" />
            <circle className={styles.corner} cx="0" cy="120" r="10" />
            <circle className={styles.corner} cx="120" cy="120" r="10" />
          </pattern>
        </defs>
        <rect width="100%" height="100%" fill="url(#tile)" />
      </svg>
    </div>
  );
}
