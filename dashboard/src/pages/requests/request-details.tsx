import type { RequestAttempt, RequestLogEntry } from '@gatehouse/sdk';
import type { ReactNode } from 'react';
import { endingOf } from '../../format/ending.ts';
import { groupLabel } from '../../format/group-label.ts';
import { count, rate } from '../../format/number.ts';
import { Amount } from '../../ui/amount.tsx';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Details } from '../../ui/details.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Time } from '../../ui/time.tsx';
import * as styles from './request-details.module.css';
import type { RequestsSearch } from './requests-search.ts';
import { TimingBar } from './timing-bar.tsx';
import { Waterfall } from './waterfall.tsx';

export interface RequestDetailsProps {
  readonly entry: RequestLogEntry;
  /** Undefined while they load. */
  readonly attempts: readonly RequestAttempt[] | undefined;
  readonly onFilter: (filter: RequestsSearch) => void;
}

export function RequestDetails({ entry, attempts, onFilter }: RequestDetailsProps) {
  const { metrics, financials, status_detail, upstream, metadata, key, project } = entry;
  const labels = Object.entries(metadata);
  return (
    <div className={styles.details}>
      <header className={styles.summary}>
        <StatusBadge status={entry.status} />
        <p className={styles.ending}>{endingOf(entry)}</p>
        <p className={styles.id}>
          <code>{entry.req_id}</code>
          <CopyButton text={entry.req_id} label="Copy the request id" />
        </p>
      </header>
      {entry.request_count === undefined ? undefined : (
        <Notice>
          This row stands for {count(entry.request_count)} similar requests of the key within ten seconds. Its
          times are their mean.
        </Notice>
      )}
      {status_detail.upstream_error === null ? undefined : (
        <Part title="What went wrong">
          <p className={styles.error}>
            <bdi>{status_detail.upstream_error}</bdi>
          </p>
        </Part>
      )}
      <Part title="Timing">
        <TimingBar metrics={metrics} />
      </Part>
      {attempts !== undefined && attempts.length > 0 ? (
        <Part title={attempts.length === 1 ? 'At the provider' : `Attempts: ${attempts.length}`}>
          <Waterfall attempts={attempts} totalMs={metrics.total_ms} />
        </Part>
      ) : undefined}
      <Part title="Tokens and cost">
        <Details
          items={[
            { label: 'Prompt', value: tokens(metrics.prompt_tokens) },
            { label: 'Generated', value: tokens(metrics.tokens_generated) },
            { label: 'Written to the cache', value: tokens(metrics.cache_creation_input_tokens) },
            { label: 'Read from the cache', value: tokens(metrics.cache_read_input_tokens) },
            {
              label: 'All tokens',
              value: `${count(metrics.total_tokens)}${metrics.tokens_estimated ? ', estimated: the provider reported no usage' : ''}`,
            },
            {
              label: 'Speed',
              value:
                metrics.tpot_ms === null || metrics.tpot_ms === 0
                  ? '–'
                  : `${rate(1000 / metrics.tpot_ms)} tokens a second`,
            },
            {
              label: 'Cost',
              value: (
                <>
                  <Amount value={financials.cost_pkr} />
                  {financials.is_byok === 1 ? ', with the organisation’s own provider key' : ''}
                </>
              ),
            },
          ]}
        />
      </Part>
      <Part title="Request">
        <Details
          items={[
            { label: 'Began', value: <Time at={entry.timestamp} /> },
            {
              label: 'Model',
              value: <Filter text={entry.model} onPress={() => onFilter({ model: entry.model })} />,
            },
            { label: 'Model of the provider', value: <Foreign text={upstream?.model} none="–" /> },
            {
              label: 'Key',
              value: key ? (
                <Filter
                  text={groupLabel('key', { group: key.id, name: key.name })}
                  onPress={() => onFilter({ key: key.id })}
                />
              ) : (
                'unattributed'
              ),
            },
            {
              label: 'Project',
              value: project ? (
                <Filter
                  text={groupLabel('project', { group: project.id, name: project.name })}
                  onPress={() => onFilter({ project: project.id })}
                />
              ) : (
                'unattributed'
              ),
            },
            { label: 'Answer', value: entry.stream ? 'As a stream' : 'As a whole' },
            { label: 'Client', value: <bdi>{entry.user_agent === '' ? '–' : entry.user_agent}</bdi> },
          ]}
        />
      </Part>
      <Part title="Metadata">
        {labels.length === 0 ? (
          <p className={styles.none}>
            None. Send headers named <code>X-SVC-Meta-…</code> to find requests by customer, feature or run.
          </p>
        ) : (
          <Details
            items={labels.map(([name, value]) => ({
              label: name,
              value: <Filter text={value} onPress={() => onFilter({ q: value.slice(0, 300) })} />,
            }))}
          />
        )}
      </Part>
    </div>
  );
}

function tokens(value: number | null): ReactNode {
  return value === null ? '–' : count(value);
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.part} aria-label={title}>
      <h3 className={styles.title}>{title}</h3>
      {children}
    </section>
  );
}

/** A value by which the list can be filtered. */
function Filter({ text, onPress }: { text: string; onPress: () => void }) {
  if (text === '') return <Foreign text={null} none="–" />;
  return (
    <span className={styles.filter}>
      <bdi>{text}</bdi>
      <Button size="s" variant="quiet" aria-label={`Filter by ${text}`} onPress={onPress}>
        Filter
      </Button>
    </span>
  );
}
