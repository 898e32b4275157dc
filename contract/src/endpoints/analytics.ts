import { z } from 'zod';
import { limit, offset } from '../conventions/paging.ts';
import { bucketWidthFromText } from '../conventions/time.ts';
import { endpoint } from '../endpoint.ts';
import {
  analyticsErrors,
  duration,
  filters,
  requestFilters,
  statusCategoryError,
  TERMINATION_REASONS,
  timeRange,
  windowParameters,
} from './analytics-filters.ts';
import { named } from './fields.ts';

export { getBreakdown } from './analytics-breakdown.ts';
export {
  ANY_ERROR,
  STATUS_CATEGORIES,
  TERMINATION_REASONS,
  type TerminationReason,
} from './analytics-filters.ts';
export { BREAKDOWN_GROUPINGS, type BreakdownGrouping, textOfGrouping } from './analytics-groupings.ts';
export { listSessions, SESSION_ORDERS, Session, type SessionOrder } from './analytics-sessions.ts';
export { getSpend, SPEND_GROUPINGS, type SpendGrouping } from './analytics-spend.ts';
export { getTrend, TREND_FIGURES, TrendBuckets, type TrendFigure, TrendFigures } from './analytics-trend.ts';

/** How an attempt ended. */
export const ATTEMPT_ENDINGS = [
  'served',
  'error_status',
  'unreachable',
  'timed_out',
  'broken',
  'error_event',
  'client_disconnect',
  'stopped',
] as const;

export type AttemptEnding = (typeof ATTEMPT_ENDINGS)[number];

const scope = { time_range: timeRange(), ...filters };

export const getSummary = endpoint({
  name: 'getSummary',
  section: 'analytics',
  method: 'GET',
  path: '/analytics/summary',
  summary: 'Requests, averages and tokens of a window; with key_id, the cost as well.',
  query: z.object({ ...scope, model_alias: z.string().optional() }),
  reply: z.strictObject({
    time_range: z.string(),
    total_requests: z.int(),
    avg_e2e_latency_ms: z.number().nullable(),
    avg_ttft_ms: z.number().nullable(),
    avg_tokens_per_sec: z.number().nullable(),
    total_token_usage: z.int(),
    total_cost_pkr: z.number().optional(),
  }),
  errors: analyticsErrors,
});

/** The metrics of a series. */
export const METRICS = ['volume', 'latency', 'ttft', 'tok_s', 'token_usage'] as const;
export type Metric = (typeof METRICS)[number];

/** The groupings of a series. */
export const GROUPINGS = ['project', 'key', 'model'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** The group of requests without a known project, key or route. */
export const UNATTRIBUTED = 'unattributed';

export const TimeseriesPoint = z
  .strictObject({
    bucket: z
      .string()
      .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
      .meta({
        description: 'Start of the bucket, in UTC, without a zone.',
        example: '2026-11-20T10:15:00',
      }),
    group: z.string().meta({
      description: `The id of the project or key, or the route id. ${UNATTRIBUTED}: no known project or key, or rejected before the model was read.`,
    }),
    value: z.number(),
  })
  .meta({ id: 'TimeseriesPoint' });

export const getTimeseries = endpoint({
  name: 'getTimeseries',
  section: 'analytics',
  method: 'GET',
  path: '/analytics/timeseries',
  summary:
    'A metric over time: one value per bucket and group, ordered by bucket, then group. Empty buckets are left out.',
  query: z.object({
    metric: z.enum(METRICS).default('volume').meta({
      description:
        'volume: requests; latency and ttft: means in ms; tok_s: tokens generated a second; token_usage: tokens of every kind.',
    }),
    interval: duration('1h', bucketWidthFromText).meta({
      description: 'Bucket width: digits and s, m, h or d. Buckets are aligned to 1970-01-01T00:00:00.',
      example: '1h',
    }),
    group_by: z.enum(GROUPINGS).default('model'),
    ...scope,
    model_alias: z.string().optional(),
  }),
  reply: z.strictObject({
    metric: z.enum(METRICS),
    interval: z.string(),
    group_by: z.enum(GROUPINGS),
    time_range: z.string(),
    data: z.array(TimeseriesPoint),
  }),
  errors: analyticsErrors,
});

export const getUsageThrottling = endpoint({
  name: 'getUsageThrottling',
  section: 'analytics',
  method: 'GET',
  path: '/admin/usage-throttling',
  summary: 'The keys that made requests, with how many their own rate limit rejected; most rejected first.',
  query: z.object({ ...scope, model_alias: z.string().optional() }),
  reply: z.strictObject({
    time_range: z.string(),
    keys: z.array(
      z
        .strictObject({
          key: z.strictObject({ id: z.uuid(), name: z.string().nullable() }),
          project: named(),
          rate_limit_rpm: z
            .int()
            .nullable()
            .meta({ description: 'The current limit; null for a deleted key.' }),
          requests: z.int(),
          throttled: z.int().meta({
            description: "Requests that the key's rate limit rejected. A provider's 429 does not count.",
          }),
          peak_rpm: z.int().meta({ description: 'Requests in the busiest clock minute.' }),
          last_throttled_at: z.iso.datetime().nullable().meta({ example: '2026-11-20T10:15:30.123456Z' }),
        })
        .meta({ id: 'KeyUsage' }),
    ),
  }),
  errors: analyticsErrors,
});

export const RequestLogEntry = z
  .strictObject({
    req_id: z.string(),
    timestamp: z.iso.datetime().meta({ example: '2026-11-20T10:15:30.123456Z' }),
    model: z.string(),
    status: z.int(),
    stream: z.boolean(),
    key: named(),
    project: named(),
    metrics: z.strictObject({
      total_ms: z.number(),
      ttft_ms: z.number().nullable(),
      tpot_ms: z.number().nullable(),
      pre_dispatch_ms: z.number(),
      prompt_tokens: z.int().nullable(),
      tokens_generated: z.int(),
      cache_creation_input_tokens: z.int().nullable(),
      cache_read_input_tokens: z.int().nullable(),
      total_tokens: z.int(),
      tokens_estimated: z.boolean(),
    }),
    financials: z.strictObject({ cost_pkr: z.number(), is_byok: z.union([z.literal(0), z.literal(1)]) }),
    status_detail: z.strictObject({
      termination_reason: z.enum(TERMINATION_REASONS),
      upstream_error: z.string().nullable(),
    }),
    upstream: z.strictObject({ model: z.string() }).nullable(),
    user_agent: z.string(),
    metadata: z.record(z.string(), z.string()),
    request_count: z.int().min(2).optional().meta({
      description: 'How many similar rejected requests of the key this row stands for; only present above 1.',
    }),
  })
  .meta({ id: 'RequestLogEntry' });
export type RequestLogEntry = z.infer<typeof RequestLogEntry>;

export const listRequests = endpoint({
  name: 'listRequests',
  section: 'analytics',
  method: 'GET',
  path: '/analytics/requests',
  summary:
    'The request log, newest first: one row per request, or per group of rejected requests. CSV and NDJSON return all rows.',
  query: z.object({
    ...windowParameters,
    ...filters,
    model: z.string().optional(),
    ...requestFilters,
    limit: limit(),
    offset: offset(),
  }),
  reply: z.strictObject({
    total: z.int().meta({ description: 'Matching rows.' }),
    limit: z.int(),
    offset: z.int(),
    requests: z.array(RequestLogEntry),
  }),
  exports: ['application/x-ndjson', 'text/csv'],
  errors: [statusCategoryError, ...analyticsErrors],
});

export const RequestAttempt = z
  .strictObject({
    provider: z.string(),
    upstream_model: z.string(),
    credential: z.string().meta({
      description:
        "The name of the provider's credential; `own` for the organisation's own key, empty if the provider takes none.",
    }),
    is_byok: z.union([z.literal(0), z.literal(1)]),
    status: z.int().nullable().meta({ description: "The provider's own; null if no answer began." }),
    started_ms: z.number().meta({ description: 'Since the request began.' }),
    total_ms: z.number().meta({ description: 'Since the attempt began, like ttft_ms.' }),
    ttft_ms: z.number().nullable(),
    prompt_tokens: z.int().nullable(),
    tokens_generated: z.int(),
    cost_pkr: z.number().meta({ description: "The request's cost is the sum over its attempts." }),
    ending: z.enum(ATTEMPT_ENDINGS),
    error: z.string().nullable().meta({ description: 'The error, without credentials and addresses.' }),
  })
  .meta({ id: 'RequestAttempt' });
export type RequestAttempt = z.infer<typeof RequestAttempt>;

export const showRequest = endpoint({
  name: 'showRequest',
  section: 'analytics',
  method: 'GET',
  path: '/analytics/requests/{req_id}',
  summary: 'One row of the request log, with what was tried at providers.',
  reply: RequestLogEntry.extend({
    attempts: z.array(RequestAttempt).meta({
      description: 'In the order of time; empty if the request was not sent to a provider.',
    }),
  }),
  errors: [
    {
      status: 404,
      body: 'error',
      when: 'the request is not in the request log of the organisation, or not yet',
    },
    { status: 503, body: 'error', when: 'the telemetry store is unavailable or too slow' },
  ],
});
