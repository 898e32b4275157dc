import { bucketLabel, utc } from '../format/time.ts';
import * as styles from './readout.module.css';

interface ReadoutRow {
  readonly id: string;
  readonly label: string;
  readonly colour: string;
  readonly value: number | null;
}

export interface ReadoutProps {
  readonly start: Date;
  readonly widthMs: number;
  /** The position of the cursor and the width of the chart: the readout stays inside. */
  readonly left: number;
  readonly of: number;
  readonly rows: readonly ReadoutRow[];
  readonly format: (value: number) => string;
  readonly isStacked: boolean;
}

const MOST = 12;

/** The largest first; everything else is last. */
const rank = ({ id, value }: ReadoutRow) => (id === 'other' ? -1 : (value ?? 0));

/** The values of a chart under the cursor. */
export function Readout({ start, widthMs, left, of, rows, format, isStacked }: ReadoutProps) {
  const known = rows.filter(({ value }) => value !== null && (value !== 0 || rows.length <= 3));
  const sorted = isStacked ? known.toSorted((a, b) => rank(b) - rank(a)) : known;
  return (
    <div
      className={styles.readout}
      data-side={left > of / 2 ? 'left' : 'right'}
      style={{ left }}
      role="status"
    >
      <p className={styles.when}>{bucketLabel(start, widthMs)}</p>
      {sorted.length === 0 ? (
        <p className={styles.none}>{rows.some(({ value }) => value === 0) ? 'Nothing' : 'Unknown'}</p>
      ) : undefined}
      {sorted.slice(0, MOST).map(({ id, label, colour, value }) => (
        <p key={id} className={styles.row}>
          <span className={styles.swatch} style={{ background: `var(${colour})` }} />
          <bdi className={styles.label}>{label}</bdi>
          <span className={styles.value}>{value === null ? '–' : format(value)}</span>
        </p>
      ))}
      {sorted.length > MOST ? <p className={styles.none}>and {sorted.length - MOST} more</p> : undefined}
      <p className={styles.utc}>{utc(start)}</p>
    </div>
  );
}
