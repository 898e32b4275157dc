import type { KeyBudget } from '@gatehouse/sdk';
import { percent } from '../../format/number.ts';
import { pkr } from '../../format/pkr.ts';
import { Amount } from '../../ui/amount.tsx';
import { Meter } from '../../ui/meter.tsx';
import { shareOf } from './credit.ts';
import * as styles from './keys.module.css';

/** Spend against the limit of a key. A key without a limit has its spend only. */
export function CreditBar({ name, budget }: { name: string; budget: KeyBudget }) {
  const { spent_pkr, held_pkr, credit_limit_pkr } = budget;
  const spent = shareOf(spent_pkr, credit_limit_pkr);
  if (credit_limit_pkr === null || spent === undefined)
    return (
      <span className={styles.credit}>
        <span className={styles.amounts}>
          <Amount value={spent_pkr} />
          <span className={styles.limit}>no limit</span>
        </span>
      </span>
    );
  const held = shareOf(held_pkr, credit_limit_pkr) ?? 0;
  return (
    <span className={styles.credit}>
      <span className={styles.amounts}>
        <Amount value={spent_pkr} />
        <span className={styles.limit}>
          of <Amount value={credit_limit_pkr} unit={false} />
        </span>
      </span>
      <Meter
        label={`Credit of ${name}`}
        valueText={`${pkr(spent_pkr)} spent and ${pkr(held_pkr)} held of ${pkr(credit_limit_pkr)}, ${percent(spent + held)}`}
        parts={[
          { label: 'Spent', kind: 'spent', share: spent },
          { label: 'Held', kind: 'held', share: held },
        ]}
      />
    </span>
  );
}
