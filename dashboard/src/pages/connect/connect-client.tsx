import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryOf } from '../../api/call.ts';
import { useGatewayUrl } from '../../api/gateway-url.ts';
import { routesCall } from '../../app/filter-options.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import * as styles from './connect-client.module.css';
import { CLIENTS } from './connect-texts.ts';

export interface ConnectClientProps {
  /** Undefined where it is not known any more. */
  readonly secret: string | undefined;
  /** Null: all. */
  readonly allowedModels: readonly string[] | null;
}

/** How to point a client at the gateway, one tab a client. */
export function ConnectClient({ secret, allowedModels }: ConnectClientProps) {
  const gateway = useGatewayUrl();
  const routes = useQuery(queryOf(routesCall)).data?.routes ?? [];
  const [model, setModel] = useState<string | undefined>(allowedModels?.[0]);
  const [client, setClient] = useState<string>('claude-code');
  const models = routes
    .filter(({ id, active }) => active && (allowedModels === null || allowedModels.includes(id)))
    .map(({ id, provider }) => ({ value: id, label: id, detail: provider }));
  return (
    <section className={styles.connect} aria-label="Connect a client" aria-busy={gateway === undefined}>
      <header className={styles.header}>
        <h3 className={styles.title}>Connect a client</h3>
        <FilterSelect label="Model" options={models} value={model} onChange={setModel} />
      </header>
      <Tabs
        label="Client"
        selected={client}
        onSelect={setClient}
        tabs={CLIENTS.map(({ id, label, steps }) => ({
          id,
          label,
          content:
            gateway === undefined ? (
              <Skeleton height={180} />
            ) : (
              <ol className={styles.steps}>
                {steps({ gateway, secret, model }).map(({ text, code, label: of = 'the text' }) => (
                  <li key={text} className={styles.step}>
                    <p>{text}</p>
                    {code === undefined ? undefined : <CodeBlock text={code} label={of} />}
                  </li>
                ))}
              </ol>
            ),
        }))}
      />
    </section>
  );
}
