import { pkr, pkrAmount, pkrExact } from '../format/pkr.ts';
import * as styles from './amount.module.css';

/** An amount of PKR: readable, with every decimal on hover. */
export function Amount({ value, unit = true }: { value: number | null; unit?: boolean }) {
  if (value === null) return <span title="Unknown">–</span>;
  return (
    <span className={styles.amount} title={pkrExact(value)}>
      {unit ? pkr(value) : pkrAmount(value)}
    </span>
  );
}
