import type { Route } from '@gatehouse/sdk';
import { count } from '../../format/number.ts';
import { Amount } from '../../ui/amount.tsx';
import * as styles from './models.module.css';

const PARTS = [
  ['input', 'Input'],
  ['cache_read', 'Cache read'],
  ['cache_write', 'Cache write'],
  ['cache_write_1h', 'Cache write, 1 hour'],
  ['output', 'Output'],
] as const;

/** The prices per million tokens, one column for each size of prompt that has its own. */
export function PriceTable({ prices }: { prices: Route['price_pkr_per_million'] }) {
  const { tiers } = prices;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by the keyboard
    <section className={styles.prices} aria-label="Prices per million tokens" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">PKR per million</th>
            <th scope="col">{tiers.length === 0 ? 'Any prompt' : 'Shorter prompts'}</th>
            {tiers.map(({ above_prompt_tokens }) => (
              <th scope="col" key={above_prompt_tokens}>
                Above {count(above_prompt_tokens)} tokens
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {PARTS.map(([part, label]) => (
            <tr key={part}>
              <th scope="row">{label}</th>
              <td>
                <Amount value={prices[part]} unit={false} />
              </td>
              {tiers.map((tier) => (
                <td key={tier.above_prompt_tokens}>
                  <Amount value={tier[part]} unit={false} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
