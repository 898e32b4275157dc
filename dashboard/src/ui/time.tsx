import { useEffect, useState } from 'react';
import { ago, dateTime, utc } from '../format/time.ts';
import * as styles from './amount.module.css';

/** A moment in the viewer's zone; on hover in full and in UTC. `relative` says how long ago, and keeps counting. */
export function Time({ at, relative = false }: { at: string | Date; relative?: boolean }) {
  const date = typeof at === 'string' ? new Date(at) : at;
  const now = useNow(relative ? 30_000 : undefined);
  return (
    <time className={styles.amount} dateTime={date.toISOString()} title={`${dateTime(date)}\n${utc(date)}`}>
      {relative ? ago(date, now) : dateTime(date)}
    </time>
  );
}

/** The time of now, every so often. */
function useNow(everyMs: number | undefined): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => setNow(new Date()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
