import { z } from 'zod';
import { bucketWidthFromText } from '../conventions/time.ts';
import { endpoint } from '../endpoint.ts';
import { MAX_BUCKETS } from '../limits.ts';
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
import { pkr } from './fields.ts';

/** The groupings of spend. */
export const SPEND_GROUPINGS = ['model', 'key', 'project', 'member'] as const;
export type SpendGrouping = (typeof SPEND_GROUPINGS)[number];

const costs = {
  cost_pkr: pkr('The cost over the window; the sum of costs_pkr.'),
  costs_pkr: z.array(z.number()).meta({ description: 'The cost of each bucket, in the order of buckets.' }),
};

export const getSpend = endpoint({
  name: 'getSpend',
  section: 'analytics',
  method: 'GET',
  path: '/analytics/spend',
  summary:
    'Cost over time by model, key, project or member, exact to the micro-PKR. The groups and other add up to total, in every bucket. Groups without cost are left out.',
  query: z.object({
    group_by: z.enum(SPEND_GROUPINGS).default('model'),
    interval: duration('1h', bucketWidthFromText).meta({
      description: `Bucket width: digits and s, m, h or d; at most ${MAX_BUCKETS} buckets. Buckets are aligned to 1970-01-01T00:00:00.`,
      example: '1d',
    }),
    time_zone: z.string().optional().meta({
      description:
        'An IANA time zone, or an offset such as +05:00 (%2B05:00 in a URL). Buckets are written in it, and intervals of whole days begin when its days do. Default: UTC.',
      example: 'Asia/Karachi',
    }),
    limit: groupLimit(10),
    ...windowParameters,
    ...filters,
    model_alias: z.string().optional(),
    ...requestFilters,
  }),
  reply: z.strictObject({
    ...appliedWindow,
    interval: z.string(),
    time_zone: z.string().meta({ description: 'As given, or UTC.' }),
    group_by: z.enum(SPEND_GROUPINGS),
    buckets: z.array(z.iso.datetime({ offset: true })).meta({
      description:
        'The start of each bucket, in the time zone. Buckets without cost are listed too. The window cuts the first and the last.',
      example: ['2026-11-20T00:00:00+05:00'],
    }),
    total: z.strictObject(costs).meta({ description: 'Everything that passes the filters.' }),
    groups: z
      .array(
        z.strictObject({
          group: z.string().nullable().meta({
            description:
              'The route id, or the id of the key, project or member. Null where it is unknown: no known key or project, a key that no member minted, or rejected before the model was read.',
          }),
          name: z.string().nullable().meta({
            description:
              'The current name of the key or project, or the e-mail of the member; null if it has none. Of a model, its id.',
          }),
          ...costs,
        }),
      )
      .meta({ description: 'The most expensive first.' }),
    other: z
      .strictObject({ groups: z.int().meta({ description: 'How many.' }), ...costs })
      .nullable()
      .meta({ description: 'The groups beyond limit, together; null if there are none.' }),
  }),
  errors: [statusCategoryError, tooManyKeysError('member'), ...analyticsErrors],
});
