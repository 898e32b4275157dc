import { ago, dateTime, utc } from '../format/time.ts';
import * as styles from './amount.module.css';
import { useNow } from './use-now.ts';

/** A moment in the viewer's zone; on hover in full and in UTC. `relative` says how long ago, and keeps counting. */
export function Time({ at, relative = false }: { at: string | Date; relative?: boolean }) {
  const date = typeof at === 'string' ? new Date(at) : at;
  return (
    <time className={styles.amount} dateTime={date.toISOString()} title={`${dateTime(date)}\n${utc(date)}`}>
      {relative ? <Ago date={date} /> : dateTime(date)}
    </time>
  );
}

function Ago({ date }: { date: Date }) {
  return ago(date, useNow());
}
