import type { Route } from '@gatehouse/sdk';
import { Link } from '@tanstack/react-router';
import { Amount } from '../../ui/amount.tsx';
import { Badge } from '../../ui/badge.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Details } from '../../ui/details.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { SidePanel } from '../../ui/side-panel.tsx';
import { requestsOf } from '../requests-link.ts';
import { ModelStateBadges } from './model-state.tsx';
import * as styles from './models.module.css';
import { PriceTable } from './price-table.tsx';

/** All that the catalogue says of a route. */
export function ModelPanel({
  route,
  hasOwnKey,
  onClose,
}: {
  route: Route;
  hasOwnKey: boolean;
  onClose: () => void;
}) {
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
            { label: 'State', value: <ModelStateBadges isActive={route.active} hasOwnKey={hasOwnKey} /> },
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
                  <span className={styles.muted}>None</span>
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
        {route.active ? undefined : (
          <p className={styles.muted}>A request that names an inactive model is answered with 404.</p>
        )}
        <Link {...requestsOf({ model: route.id })}>Show its requests of the last 30 days</Link>
      </div>
    </SidePanel>
  );
}
