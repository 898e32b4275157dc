import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiCall, queryOf } from '../../api/call.ts';
import { analyticsQuery } from '../../app/analytics-search.ts';
import { ENDING_LABELS } from '../../format/ending.ts';
import { count } from '../../format/number.ts';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { LowestCost } from './lowest-cost.tsx';
import * as styles from './requests-page.module.css';
import { ENDINGS, type RequestsSearch, STATUS_CATEGORIES, validateRequests } from './requests-search.ts';

const STATUS_LABELS = { '2xx': 'answered', '3xx': 'redirected', '4xx': 'refused', '5xx': 'failed' };
const STATUSES = STATUS_CATEGORIES.map((value) => ({ value, label: value, detail: STATUS_LABELS[value] }));
const REASONS = ENDINGS.map((value) => ({ value, label: ENDING_LABELS[value] }));

/** The filters that only the request log has, and the search. */
export function RequestFilters({
  search,
  onChange,
}: {
  search: RequestsSearch;
  onChange: (search: RequestsSearch) => void;
}) {
  // Counting the codes takes as long as the rest of the page, and few people open the list.
  const [hasOpened, setOpened] = useState(false);
  const codes = useQuery({
    ...queryOf(
      apiCall('getBreakdown', {
        ...analyticsQuery(search),
        error_code: 'any',
        group_by: 'error_code',
        limit: 100,
      }),
    ),
    enabled: hasOpened,
  });
  const errors = (codes.data?.groups ?? []).flatMap(({ group, requests }) =>
    group === null ? [] : [{ value: group, label: group, detail: count(requests) }],
  );
  return (
    <search className={styles.filters} aria-label="Search in the requests">
      <div className={styles.search}>
        <SearchField
          label="Search requests"
          placeholder="Request id, or text of the metadata"
          value={search.q ?? ''}
          onChange={(q) => onChange({ ...search, q: q === '' ? undefined : q })}
          isMain
        />
      </div>
      <FilterSelect
        label="Status"
        options={STATUSES}
        value={search.status}
        onChange={(status) => onChange(validateRequests({ ...search, status }))}
      />
      <FilterSelect
        label="Error"
        options={[{ value: 'any', label: 'Any error' }, ...errors]}
        value={search.error}
        onChange={(error) => onChange({ ...search, error })}
        onOpen={() => setOpened(true)}
      />
      <FilterSelect
        label="Ending"
        options={REASONS}
        value={search.ending}
        onChange={(ending) => onChange(validateRequests({ ...search, ending }))}
      />
      <LowestCost
        value={search.cost ?? ''}
        onChange={(cost) => onChange(validateRequests({ ...search, cost }))}
      />
    </search>
  );
}
