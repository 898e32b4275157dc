import { z } from 'zod';
import { bucketWidthFromText } from '../conventions/time.ts';
import { endpoint } from '../endpoint.ts';
import { MAX_BUCKETS, MAX_TREND_CELLS, MAX_TREND_QUANTILE_CELLS } from '../limits.ts';
import {
  analyticsErrors,
  appliedWindow,
  duration,
  filters,
  groupLimit,
  requestFilters,
  statusCategoryError,
  tooManyKeysError,
  windowParameters,
} from './analytics-filters.ts';
import { GROUPINGS_IN_WORDS, toGrouping } from './analytics-groupings.ts';
import { groupedFigures } from './analytics-groups.ts';
import { pkr } from './fields.ts';

const mean = (description: string) => z.number().nullable().meta({ description });
const quantiles = (of: string) =>
  z
    .strictObject({ p50: z.number().nullable(), p95: z.number().nullable() })
    .meta({ description: `${of}, in ms, within 0.2 %: half of them, and 95 of 100, took no longer.` });

const figures = {
  requests: z.int(),
  rows: z.int().meta({ description: 'Rows of the request log; a row may stand for several requests.' }),
  errors: z.int().meta({
    description: 'Requests with an error_code. A caller that left early is not an error.',
  }),
  tokens: z.int().meta({ description: 'Tokens of every kind.' }),
  cost_pkr: pkr('Exact.'),
  avg_total_ms: mean('The mean time from the request to the end of its answer; null without requests.'),
  avg_ttft_ms: mean('The mean time to the first token, of the streams that had one; null if none had.'),
  tokens_per_sec: mean('Tokens generated, divided by the time spent generating them.'),
  total_ms: quantiles('Time from the request to the end of its answer'),
  ttft_ms: quantiles('Time to the first token, of the streams that had one; null if none had'),
};

/** The figures of a trend. */
export const TREND_FIGURES = Object.keys(figures) as readonly (keyof typeof figures)[];
export type TrendFigure = keyof typeof figures;

const list = <Value extends z.ZodType>(value: Value) => z.array(value);
const lists = {
  requests: list(z.int()),
  rows: list(z.int()),
  errors: list(z.int()),
  tokens: list(z.int()),
  cost_pkr: list(z.number()),
  avg_total_ms: list(z.number().nullable()),
  avg_ttft_ms: list(z.number().nullable()),
  tokens_per_sec: list(z.number().nullable()),
  total_ms: z.strictObject({ p50: list(z.number().nullable()), p95: list(z.number().nullable()) }),
  ttft_ms: z.strictObject({ p50: list(z.number().nullable()), p95: list(z.number().nullable()) }),
};

/** The figures over the whole window. */
export const TrendFigures = z.strictObject(figures).partial().meta({ id: 'TrendFigures' });
export type TrendFigures = z.infer<typeof TrendFigures>;

export const TrendBuckets = z.strictObject(lists).partial().meta({ id: 'TrendBuckets' });
export type TrendBuckets = z.infer<typeof TrendBuckets>;

const series = {
  ...TrendFigures.shape,
  per_bucket: TrendBuckets.meta({ description: 'The same figures of each bucket, in the order of buckets.' }),
};

const FIGURES_IN_WORDS = `Names from ${TREND_FIGURES.join(', ')}, separated by commas`;

export const getTrend = endpoint({
  name: 'getTrend',
  section: 'analytics',
  method: 'GET',
  path: '/analytics/trend',
  summary:
    'Figures over time, in total and by one property of the requests, with those of the window before. The groups and other add up to total, in every bucket.',
  query: z.object({
    interval: duration('1h', bucketWidthFromText).meta({
      description: `Bucket width: digits and s, m, h or d; at most ${MAX_BUCKETS} buckets. Buckets are aligned to 1970-01-01T00:00:00.`,
      example: '1d',
    }),
    time_zone: z.string().optional().meta({
      description:
        'An IANA time zone, or an offset such as +05:00 (%2B05:00 in a URL). Buckets are written in it, and intervals of whole days begin when its days do. Default: UTC.',
      example: 'Asia/Karachi',
    }),
    figures: z
      .string()
      .optional()
      .transform((value, context): readonly TrendFigure[] => {
        const names = value === undefined ? TREND_FIGURES : value.split(',').map((name) => name.trim());
        const known = TREND_FIGURES.filter((name) => names.includes(name));
        if (known.length === new Set(names).size) return known;
        context.addIssue({
          code: 'custom',
          message: `Must be ${FIGURES_IN_WORDS.toLowerCase()}.`,
          params: { type: 'not_in_list' },
        });
        return z.NEVER;
      })
      .meta({
        description: `${FIGURES_IN_WORDS}. Others are left out. Default: all. The quantiles total_ms and ttft_ms take the longest.`,
        example: 'requests,errors,cost_pkr',
      }),
    group_by: z
      .string()
      .transform(toGrouping)
      .optional()
      .meta({ description: `${GROUPINGS_IN_WORDS} Default: no groups.`, example: 'model' }),
    limit: groupLimit(10).meta({
      description: `How many groups are listed, at most 100. All others together are in other. Buckets times series (groups, other, total) are at most ${MAX_TREND_CELLS}, and ${MAX_TREND_QUANTILE_CELLS} with quantiles.`,
    }),
    previous: z.enum(['true', 'false']).default('true').meta({
      description: 'True to add the figures of the window before.',
    }),
    ...windowParameters,
    ...filters,
    model_alias: z.string().optional(),
    ...requestFilters,
  }),
  reply: z.strictObject({
    ...appliedWindow,
    interval: z.string(),
    time_zone: z.string().meta({ description: 'As given, or UTC.' }),
    group_by: z.string().nullable(),
    figures: z.array(z.enum(TREND_FIGURES)).meta({ description: 'The figures in the reply.' }),
    buckets: z.array(z.iso.datetime({ offset: true })).meta({
      description:
        'The start of each bucket, in the time zone. Empty buckets are listed too. The window cuts the first and the last.',
      example: ['2026-11-20T00:00:00+05:00'],
    }),
    ...groupedFigures(series),
    previous: z
      .strictObject({ ...appliedWindow, ...TrendFigures.shape })
      .nullable()
      .meta({
        description:
          'The same figures of the window of equal length that ends where this one begins. Null if not wanted, or if it would begin before 1970.',
      }),
  }),
  errors: [statusCategoryError, tooManyKeysError('environment or member'), ...analyticsErrors],
});
