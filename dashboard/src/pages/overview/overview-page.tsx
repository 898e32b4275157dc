import { useQuery } from '@tanstack/react-query';
import { apiCall, queryOf } from '../../api/call.ts';
import { count, countShort } from '../../format/number.ts';
import { pkrAmount, pkrExact } from '../../format/pkr.ts';
import { CopyCurl } from '../../ui/copy-curl.tsx';
import { Figure } from '../../ui/figure.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import * as styles from './overview-page.module.css';

export function OverviewPage() {
  const call = apiCall('getBreakdown', { group_by: 'status', time_range: '24h' });
  const { data } = useQuery(queryOf(call));
  const total = data?.total;
  return (
    <>
      <PageHeader title="Overview" />
      <div className={styles.figures}>
        <Figure
          label="Requests"
          value={total && countShort(total.requests)}
          exact={total ? count(total.requests) : ''}
          action={<CopyCurl call={call} of="requests" />}
        />
        <Figure
          label="Spend"
          unit="PKR"
          value={total && pkrAmount(total.cost_pkr)}
          exact={total ? pkrExact(total.cost_pkr) : ''}
          action={<CopyCurl call={call} of="spend" />}
        />
      </div>
    </>
  );
}
