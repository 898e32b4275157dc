import { useQuery } from '@tanstack/react-query';
import { apiCall, queryOf } from '../../api/call.ts';
import { roughDuration } from '../../format/duration.ts';
import { percent } from '../../format/number.ts';
import { pkr } from '../../format/pkr.ts';
import { Amount } from '../../ui/amount.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import * as styles from './budget-card.module.css';

const call = apiCall('getBudget', { limit: 1 });

/** The cost of the window, to say how long the credit lasts. */
export interface Pace {
  readonly costPkr: number;
  readonly windowMs: number;
  /** "Last 7 days". */
  readonly window: string;
}

/** The credit of the organisation: what is spent, what requests in flight hold, what is free. */
export function BudgetCard({ pace }: { pace: Pace | undefined }) {
  const { data, error, refetch } = useQuery({ ...queryOf(call), refetchInterval: 30_000 });
  return (
    <Card
      title="Budget"
      caption="Of all time, whatever the filters"
      actions={<CopyCurl call={call} of="the budget" />}
    >
      {error && !data ? <ErrorNotice error={error} onRetry={refetch} /> : undefined}
      {!data && !error ? <Loading /> : undefined}
      {data ? (
        <div className={styles.budget}>
          <p className={styles.free}>
            <Amount value={data.available_pkr} />
            <span className={styles.of}>
              free of <Amount value={data.deposited_pkr} />
            </span>
          </p>
          <Meter
            label="Budget of the organisation"
            valueText={`${pkr(data.spent_pkr)} spent, ${pkr(data.held_pkr)} held, ${pkr(data.available_pkr)} free`}
            size="m"
            parts={[
              { label: 'Spent', kind: 'spent', share: share(data.spent_pkr, data.deposited_pkr) },
              { label: 'Held', kind: 'held', share: share(data.held_pkr, data.deposited_pkr) },
            ]}
          />
          <dl className={styles.list}>
            <Entry
              mark="spent"
              name="Spent"
              amount={data.spent_pkr}
              detail={data.deposited_pkr > 0 ? percent(data.spent_pkr / data.deposited_pkr) : undefined}
              explanation="What finished requests cost."
            />
            <Entry
              mark="held"
              name="Held"
              amount={data.held_pkr}
              explanation="Reserved by requests in flight; what they do not use becomes free."
            />
            <Entry
              mark="free"
              name="Free"
              amount={data.available_pkr}
              explanation="What new requests can still hold."
            />
            <Entry
              name="Headroom"
              amount={data.headroom_pkr}
              explanation="By how much the limits of keys can still grow: deposits minus all limits."
            />
          </dl>
          {pace !== undefined && pace.costPkr > 0 && data.available_pkr > 0 ? (
            <p className={styles.pace}>
              At the pace of this window ({pace.window.toLowerCase()}), the free credit lasts{' '}
              <strong>{roughDuration((data.available_pkr / pace.costPkr) * pace.windowMs)}</strong>.
            </p>
          ) : undefined}
          {data.available_pkr <= 0 ? (
            <Notice tone="warn">
              The budget is used up, and the gateway refuses new requests. The operator of this service adds
              credit.
            </Notice>
          ) : undefined}
        </div>
      ) : undefined}
    </Card>
  );
}

function Entry({
  mark,
  name,
  amount,
  detail,
  explanation,
}: {
  mark?: 'spent' | 'held' | 'free';
  name: string;
  amount: number;
  detail?: string | undefined;
  explanation: string;
}) {
  return (
    <div className={styles.entry}>
      <dt className={styles.name}>
        <span className={styles.mark} data-mark={mark} />
        {name}
        <span className={styles.explanation}>{explanation}</span>
      </dt>
      <dd className={styles.amount}>
        {detail === undefined ? undefined : <span className={styles.detail}>{detail}</span>}
        <Amount value={amount} />
      </dd>
    </div>
  );
}

function Loading() {
  return (
    <div className={styles.budget} aria-busy="true">
      <Skeleton width="60%" height={30} />
      <Skeleton height={12} />
      <Skeleton width="80%" />
      <Skeleton width="70%" />
      <Skeleton width="75%" />
    </div>
  );
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : part > 0 ? 1 : 0;
}
