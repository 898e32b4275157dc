import { filteredPlans, offsetPlans, onePlans, pageFacts } from './baseline-pages.ts';
import {
  lastUsedPlans,
  type Series,
  seriesFacts,
  seriesPlans,
  summaryPlans,
  throttlingFacts,
  throttlingPlans,
} from './baseline-sums.ts';
import { type BenchQuery, type Facts, type Kind, rotate, type Target } from './bench-query.ts';
import * as reference from './reference-queries.ts';

export const WINDOWS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;
const ALL = Object.keys(WINDOWS);

interface SummaryBody {
  readonly total_requests: number;
  readonly total_token_usage: number;
  readonly avg_e2e_latency_ms: number | null;
  readonly avg_ttft_ms: number | null;
  readonly avg_tokens_per_sec: number | null;
}

const summaryBody = (body: unknown): Facts => {
  const given = body as SummaryBody;
  return [
    given.total_requests,
    given.total_token_usage,
    given.avg_e2e_latency_ms,
    given.avg_ttft_ms,
    given.avg_tokens_per_sec,
  ];
};

const keyOf = ({ subject, round }: Target) => rotate(subject.keyIds.slice(0, 3), round);
const idOf = ({ subject, round }: Target) => rotate(subject.requestIds, round);
const modelOf = ({ subject, round }: Target) => rotate(subject.models.slice(0, 3), round);

const summaries: BenchQuery[] = [
  {
    name: 'summary',
    kind: 'summary',
    windows: ALL,
    path: ({ window }) => `/analytics/summary?time_range=${window.text}`,
    facts: summaryBody,
    baseline: (at) => summaryPlans(at),
    reference: (at) => reference.summary(at),
  },
  {
    name: 'summary of a key',
    kind: 'summary',
    windows: ALL,
    path: (at) => `/analytics/summary?time_range=${at.window.text}&key_id=${keyOf(at)}`,
    facts: summaryBody,
    baseline: (at) => summaryPlans(at, ` AND key_id = '${keyOf(at)}'`),
    reference: (at) => reference.summary(at, keyOf(at)),
  },
];

// Up to 2,000 buckets in each window. A series by the hour over 90 days has 2,160 and is listed separately.
const WIDTHS = { '24h': 60, '7d': 600, '30d': 1_800, '90d': 7_200 } as const;

function series(of: Omit<Series, 'seconds'>, windows: readonly string[], only?: number): BenchQuery {
  const at = ({ window }: Target): Series => ({
    ...of,
    seconds: only ?? WIDTHS[window.text as keyof typeof WIDTHS],
  });
  return {
    name: `${of.metric} by ${of.grouping}${only === undefined ? '' : `, ${only / 3_600}h`}`,
    kind: 'timeseries',
    windows,
    path: (given) =>
      `/analytics/timeseries?time_range=${given.window.text}&metric=${of.metric}&group_by=${of.grouping}&interval=${at(given).seconds}s`,
    facts: (body) => seriesFacts((body as { readonly data: readonly { readonly value: number }[] }).data),
    baseline: (given) => seriesPlans(given, at(given)),
    reference: (given) => reference.series(given, at(given)),
  };
}

interface PageBody {
  readonly total: number;
  readonly requests: readonly { readonly req_id: string }[];
}

const pageBody = (body: unknown): Facts => {
  const { total, requests } = body as PageBody;
  return pageFacts(
    total,
    requests.map((row) => ({ request_id: row.req_id })),
  );
};

function requests(
  name: string,
  kind: Kind,
  query: (at: Target) => string,
  baseline: BenchQuery['baseline'],
  reference: BenchQuery['reference'],
  windows: readonly string[] = ALL,
): BenchQuery {
  return {
    name,
    kind,
    windows,
    path: (at) => `/analytics/requests?time_range=${at.window.text}${query(at)}`,
    facts: pageBody,
    baseline,
    reference,
  };
}

function page(name: string, windows: readonly string[], offsetOf: (total: number) => number): BenchQuery {
  // A caller that pages knows the total from its first page.
  const query = (at: Target) => `&offset=${offsetOf(at.subject.requestsIn[at.window.text] ?? 0)}`;
  return requests(
    name,
    'requests',
    query,
    (at) => offsetPlans(at, offsetOf),
    (at) => reference.page(at, {}, offsetOf(at.subject.requestsIn[at.window.text] ?? 0)),
    windows,
  );
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function search(name: string, needle: (at: Target) => string): BenchQuery {
  return requests(
    `search: ${name}`,
    'search',
    (at) => `&search=${encodeURIComponent(needle(at))}`,
    (at) => filteredPlans(at, ` AND position(search_text, ${quoted(needle(at).toLowerCase())}) > 0`),
    (at) => reference.page(at, { search: needle(at).toLowerCase() }),
  );
}

const dear = ({ subject }: Target) => subject.dearMicroPkr;

export const QUERIES: readonly BenchQuery[] = [
  ...summaries,
  series({ metric: 'volume', grouping: 'model' }, ALL),
  series({ metric: 'volume', grouping: 'model' }, ['90d'], 3_600),
  series({ metric: 'latency', grouping: 'project' }, ALL),
  series({ metric: 'tok_s', grouping: 'key' }, ALL),
  page('requests', ALL, () => 0),
  page('requests from 10,000 on', ['30d', '90d'], () => 10_000),
  page('requests, the last 100', ALL, (total) => Math.max(0, total - 100)),
  requests(
    'requests with 4xx',
    'requests',
    () => '&status_category=4xx',
    (at) => filteredPlans(at, ' AND status >= 400 AND status < 500'),
    (at) => reference.page(at, { statusClass: 4 }),
  ),
  requests(
    'requests of a cost or more',
    'requests',
    (at) => `&min_cost_pkr=${dear(at) / 1e6}`,
    (at) => filteredPlans(at, ` AND cost_micro_pkr >= ${dear(at)}`),
    (at) => reference.page(at, { minCostMicroPkr: dear(at) }),
  ),
  requests(
    'requests of a model and key',
    'requests',
    (at) => `&model=${encodeURIComponent(modelOf(at))}&key_id=${keyOf(at)}`,
    (at) => filteredPlans(at, ` AND model = ${quoted(modelOf(at))} AND key_id = '${keyOf(at)}'`),
    (at) => reference.page(at, { model: modelOf(at), keyId: keyOf(at) }),
  ),
  {
    name: 'one request',
    kind: 'requests',
    windows: ['90d'],
    path: (at) => `/analytics/requests/${idOf(at)}`,
    facts: (body) => [(body as { readonly req_id: string }).req_id],
    baseline: (at) => onePlans(at, idOf(at)),
    reference: (at) => reference.one(at, idOf(at)),
  },
  search('found often', ({ subject, round }) => rotate(subject.often, round)),
  search('found seldom', ({ subject, round }) => rotate(subject.seldom, round)),
  search('found never', ({ round, window }) => `no such words ${round} ${window.text}`),
  {
    name: 'usage and throttling',
    kind: 'keys',
    windows: ALL,
    path: ({ window }) => `/admin/usage-throttling?time_range=${window.text}`,
    facts: (body) =>
      throttlingFacts(
        (body as { keys: readonly { requests: number; throttled: number; peak_rpm: number }[] }).keys.map(
          (key) => ({ ...key, peak: key.peak_rpm }),
        ),
      ),
    baseline: throttlingPlans,
    reference: reference.throttling,
  },
  {
    name: 'keys, last used',
    kind: 'keys',
    windows: ['90d'],
    path: () => '/keys',
    facts: (body) => [
      (body as { keys: readonly { last_used_at: string | null }[] }).keys.filter(
        (key) => key.last_used_at !== null,
      ).length,
    ],
    baseline: lastUsedPlans,
    reference: reference.lastUsed,
  },
];
