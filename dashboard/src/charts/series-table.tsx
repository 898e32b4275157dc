import { bucketLabel, utc } from '../format/time.ts';
import type { Series } from './series.ts';
import * as styles from './series-table.module.css';

export interface SeriesTableProps {
  readonly label: string;
  readonly starts: readonly number[];
  readonly widthMs: number;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}

/** The values of a chart as text, newest first. */
export function SeriesTable({ label, starts, widthMs, series, format }: SeriesTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by the keyboard
    <section className={styles.region} aria-label={label} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ id, label: name }) => (
              <th key={id} scope="col">
                <bdi>{name}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {starts
            .map((start, index) => (
              <tr key={start}>
                <th scope="row" title={utc(new Date(start))}>
                  {bucketLabel(new Date(start), widthMs)}
                </th>
                {series.map(({ id, values }) => {
                  const value = values[index] ?? null;
                  return <td key={id}>{value === null ? '–' : format(value)}</td>;
                })}
              </tr>
            ))
            .toReversed()}
        </tbody>
      </table>
    </section>
  );
}
