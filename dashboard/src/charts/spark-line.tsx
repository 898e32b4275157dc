import * as styles from './spark-line.module.css';
import { sparkPath } from './spark-path.ts';

const WIDTH = 200;
const HEIGHT = 32;

/** The course of a figure over its window. Decoration beside the figure itself, which says the value. */
export function SparkLine({
  values,
  colour = '--series-1',
}: {
  values: readonly (number | null)[];
  colour?: string;
}) {
  const path = sparkPath(values, WIDTH, HEIGHT);
  if (!path) return undefined;
  return (
    <svg
      className={styles.spark}
      viewBox={`0 -2 ${WIDTH} ${HEIGHT + 2}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      style={{ color: `var(${colour})` }}
    >
      <path className={styles.area} d={path.area} />
      <path className={styles.line} d={path.line} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
