import type { Route } from '@gatehouse/sdk';
import { Link } from '@tanstack/react-router';
import { Amount } from '../../ui/amount.tsx';
import { Badge } from '../../ui/badge.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Details } from '../../ui/details.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import * as list from '../../ui/list-page.module.css';
import { SidePanel } from '../../ui/side-panel.tsx';
import { requestsOf } from '../requests-link.ts';
import { ModelStateBadge } from './model-state.tsx';
import { type ModelUse, useInWords } from './model-use.ts';
import * as styles from './models.module.css';
import { PriceTable } from './price-table.tsx';

/** All that the catalogue says of a route. */
export function ModelPanel({ route, use, onClose }: { route: Route; use: ModelUse; onClose: () => void }) {
  const calls = Object.entries(route.price_pkr_per_call);
  return (
    <SidePanel
      title={<Foreign text={route.id} />}
      isOpen
      onClose={onClose}
      actions={<CopyButton text={route.id} label="Copy the name of the model" />}
    >
      <div className={styles.panel}>
        <Details
          items={[
            { label: 'Name', value: <code>{route.id}</code> },
            { label: 'State', value: <ModelStateBadge use={use} /> },
            {
              label: 'Provider',
              value: (
                <Link to="/providers" search={{ q: route.provider }}>
                  <bdi>{route.provider}</bdi>
                </Link>
              ),
            },
            {
              label: 'Aliases',
              value:
                route.aliases.length === 0 ? (
                  <span className={list.muted}>None</span>
                ) : (
                  <span className={styles.badges}>
                    {route.aliases.map((alias) => (
                      <Badge key={alias}>
                        <Foreign text={alias} />
                      </Badge>
                    ))}
                  </span>
                ),
            },
            {
              label: 'Endpoints',
              value: (
                <span className={styles.badges}>
                  {route.endpoints.map((endpoint) => (
                    <Badge key={endpoint}>{endpoint}</Badge>
                  ))}
                </span>
              ),
            },
          ]}
        />
        <p className={list.muted}>
          <bdi>{useInWords(use)}</bdi>
        </p>
        <h3 className={styles.title}>Prices</h3>
        <PriceTable prices={route.price_pkr_per_million} />
        {calls.length === 0 ? undefined : (
          <Details
            items={calls.map(([tool, price]) => ({
              label: `${tool}, a call`,
              value: <Amount value={price} />,
            }))}
          />
        )}
        <Link {...requestsOf({ model: route.id })}>Show its requests of the last 30 days</Link>
      </div>
    </SidePanel>
  );
}
