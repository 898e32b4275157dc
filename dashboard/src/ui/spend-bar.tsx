import { percent } from '../format/number.ts';
import { pkr } from '../format/pkr.ts';
import { Amount } from './amount.tsx';
import { Meter } from './meter.tsx';
import * as styles from './spend-bar.module.css';

export interface SpendBarProps {
  /** For screen readers: "Credit of Load tests". */
  readonly label: string;
  readonly spentPkr: number;
  /** By requests in flight. */
  readonly heldPkr: number;
  /** Null: there is no limit, and no bar. */
  readonly limitPkr: number | null;
}

/** Spend against a limit. */
export function SpendBar({ label, spentPkr, heldPkr, limitPkr }: SpendBarProps) {
  const [spent, held] = sharesOf(spentPkr, heldPkr, limitPkr);
  return (
    <span className={styles.bar}>
      <span className={styles.amounts}>
        <Amount value={spentPkr} />
        <span className={styles.limit}>
          {limitPkr === null ? (
            'no limit'
          ) : (
            <>
              of <Amount value={limitPkr} unit={false} />
            </>
          )}
        </span>
      </span>
      {limitPkr === null ? undefined : (
        <Meter
          label={label}
          valueText={`${pkr(spentPkr)} spent and ${pkr(heldPkr)} held of ${pkr(limitPkr)}, ${percent(spent + held)}`}
          parts={[
            { label: 'Spent', kind: 'spent', share: spent },
            { label: 'Held', kind: 'held', share: held },
          ]}
        />
      )}
    </span>
  );
}

/** The shares of what is spent and held; a limit of 0 is used up. */
function sharesOf(spentPkr: number, heldPkr: number, limitPkr: number | null): [spent: number, held: number] {
  return limitPkr === null || limitPkr === 0 ? [1, 0] : [spentPkr / limitPkr, heldPkr / limitPkr];
}
