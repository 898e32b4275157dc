import * as styles from './skeleton.module.css';

/** The shape of something that loads. The part of the page around it has `aria-busy`. */
export function Skeleton({
  width = '100%',
  height = 14,
}: {
  width?: number | string;
  height?: number | string;
}) {
  return <span className={styles.skeleton} style={{ width, height }} aria-hidden="true" />;
}

/** Rows of a table that loads. */
export function SkeletonRows({ rows = 8, height = 38 }: { rows?: number; height?: number }) {
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike and never move
        <div key={index} className={styles.row} style={{ height }}>
          <Skeleton width={`${[26, 18, 22, 30][index % 4]}%`} />
          <Skeleton width={`${[12, 16, 10, 14][index % 4]}%`} />
          <Skeleton width={`${[20, 14, 24, 16][index % 4]}%`} />
          <Skeleton width="8%" />
        </div>
      ))}
    </div>
  );
}
