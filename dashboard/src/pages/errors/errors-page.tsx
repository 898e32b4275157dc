import { getRouteApi } from '@tanstack/react-router';
import { AnalyticsBar } from '../../app/analytics-bar.tsx';
import { analyticsQuery, searchRange } from '../../app/analytics-search.ts';
import { now } from '../../browser/clock.ts';
import { rangeMs } from '../../format/range.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { ErrorFigures } from './error-figures.tsx';
import { ErrorGroups } from './error-groups.tsx';
import { type ErrorsSearch, GROUPINGS, type Grouping } from './errors-search.ts';

const pageRoute = getRouteApi('/signed-in/errors');

/** A window that ends now is loaded again this often while it is looked at. */
const REFRESH_MS = 60_000;

const LABELS: Readonly<Record<Grouping, string>> = {
  error_code: 'By code',
  status: 'By status',
  model: 'By model',
  key: 'By key',
};

export function ErrorsPage() {
  const search = pageRoute.useSearch();
  const navigate = pageRoute.useNavigate();
  const show = (next: ErrorsSearch) => void navigate({ search: next, resetScroll: false });
  const range = searchRange(search);
  const windowMs = rangeMs(range, now().getTime());
  const refreshMs = range.kind === 'relative' || range.to === undefined ? REFRESH_MS : false;
  const view = (by: Grouping) => show({ ...search, by, group: undefined, unknown: undefined });
  return (
    <>
      <PageHeader title="Errors" actions={<AnalyticsBar search={search} onChange={show} />} />
      <ErrorFigures query={analyticsQuery(search)} windowMs={windowMs} refreshMs={refreshMs} />
      <Tabs
        label="Group the errors"
        selected={search.by ?? GROUPINGS[0]}
        onSelect={(id) => view(GROUPINGS.find((each) => each === id) ?? GROUPINGS[0])}
        tabs={GROUPINGS.map((by) => ({
          id: by,
          label: LABELS[by],
          content: (
            <ErrorGroups search={search} by={by} windowMs={windowMs} refreshMs={refreshMs} onChange={show} />
          ),
        }))}
      />
    </>
  );
}
